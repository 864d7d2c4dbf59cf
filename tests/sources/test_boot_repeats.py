"""What a working engine repeats is passed over many lines at a time: few looks, and nothing read differently."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest

from analysis import paths
from analysis.sources import boot_log, boot_processes, log_blocks
from analysis.sources.boot_match import Match, match
from analysis.sources.boot_repeats import Repeats
from analysis.sources.files import SourceFile
from analysis.sources.log_lines import front, name_services, unwrap
from analysis.sources.reading import Reading, Unparsed

HEAD = (paths.DATA / "vllm-cpu" / "boots" / "A1.log").read_text().splitlines()[:120]
STEP = (
    "(APIServer pid=7) INFO 11-29 13:56:38 [loggers.py:199] Engine 000: Iteration({0}): 1 context requests, "
    "2 context tokens, 0 generation requests, 0 generation tokens, iteration elapsed time: {0}.5 ms"
)
WORKING = (
    '(APIServer pid=7) INFO:     10.0.{0}.1:{0} - "POST /v1/chat/{0} HTTP/1.1" 200 OK',
    "(APIServer pid=7) INFO 11-29 13:09:45 [loggers.py:335] Engine 000: Avg prompt throughput: {0}.6 tokens/s, Running",
    "(APIServer pid=7) DEBUG 11-29 13:09:45 [core.py:1] request {0} waits",
    "INFO:     Shutting down",
)
"""An access line and noise have no known literal; the others repeat one that is known already."""


def _read(tmp_path: Path, lines: Iterable[str]) -> Reading:
    path = tmp_path / "a.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return boot_log.read(SourceFile("a.log", path, path.stat().st_size, 0.0))


def _worked(count: int) -> list[str]:
    return HEAD + [WORKING[number % len(WORKING)].format(number) for number in range(count)]


WRAPPERS: dict[str, Callable[[int, str], list[str]]] = {
    "bare": lambda number, line: [line],
    "compose": lambda number, line: [f"vllm-1  | {line}"],
    "journald": lambda number, line: [f"Nov 29 {number // 3600:02}:{number // 60 % 60:02}:00 host vllm[12]: {line}"],
    "two replicas": lambda number, line: [f"vllm-1   | {line}", f"vllm-10  | {line}"],
    "containers": lambda number, line: [f"2026-11-29T13:00:00.{number:09}Z stdout F {line}"],
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_looks_at_lines_do_not_grow_with_what_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapper: str
) -> None:
    looks: list[int] = []

    def counted(number: int, text: str, complete: bool = True) -> tuple[list[Match], str | None]:
        looks.append(number)
        return match(number, text, complete)

    monkeypatch.setattr(boot_log, "match", counted)
    seen = {}
    for count in (1_000, 100_000):
        looks.clear()
        wrapped = [text for number, line in enumerate(_worked(count)) for text in WRAPPERS[wrapper](number, line)]
        reading = _read(tmp_path, wrapped)
        seen[count] = len(looks)
        assert max(row["last_line"] for row in reading.tables["boots"]) == len(wrapped)
    assert seen[1_000] == seen[100_000] < 200


@pytest.mark.parametrize("wrapper", [name for name in WRAPPERS if name != "two replicas"])
def test_a_wrapped_log_states_the_same(tmp_path: Path, wrapper: str) -> None:
    lines = _worked(2_000)
    bare = _read(tmp_path, lines)
    wrapped = _read(tmp_path, [text for number, line in enumerate(lines) for text in WRAPPERS[wrapper](number, line)])
    assert wrapped.tables == bare.tables
    assert wrapped.unparsed == bare.unparsed == []


def test_steps_of_two_replicas_stay_apart_in_the_order_of_lines(tmp_path: Path) -> None:
    lines = [f"vllm-{replica}  | {HEAD[0]}" for replica in (1, 10)] + [
        f"vllm-{replica}  | {line}" for replica in (1, 10) for line in HEAD[1:]
    ]
    lines += [f"vllm-{(1, 10, 10)[number % 3]}  | {STEP.format(number)}" for number in range(900)]
    steps = _read(tmp_path, lines).tables["engine_steps"]
    assert isinstance(steps, pl.DataFrame)
    assert steps["iteration"].to_list() == list(range(900))
    assert steps["boot"].to_list() == [f"a#vllm-{(1, 10, 10)[number % 3]}" for number in range(900)]


def test_a_boot_after_many_repeats_is_a_boot_of_its_own(tmp_path: Path) -> None:
    lines = _worked(5_000)
    boots = _read(tmp_path, [*lines, *lines, *lines]).tables["boots"]
    # A line before the one that starts a boot is still the earlier one's.
    assert [row["last_line"] for row in boots] == [len(lines) + 1, 2 * len(lines) + 1, 3 * len(lines)]


def _skips_nothing(_: Repeats, __: log_blocks.Block, at: int) -> int:
    return at


def _both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> Reading:
    """The reading of the lines, which is the same when every line is looked at."""
    fast = _read(tmp_path, lines)
    with monkeypatch.context() as patched:
        patched.setattr(Repeats, "skip", _skips_nothing)
        slow = _read(tmp_path, lines)
    assert {name: pl.DataFrame(rows).to_dicts() for name, rows in fast.tables.items()} == {
        name: pl.DataFrame(rows).to_dicts() for name, rows in slow.tables.items()
    }
    assert fast.unparsed == slow.unparsed
    return fast


def _steps(reading: Reading) -> list[tuple[str, int]]:
    steps = reading.tables["engine_steps"]
    assert isinstance(steps, pl.DataFrame)
    return list(steps.select("boot", "iteration").iter_rows())


START = [line for line in HEAD if "startup complete" not in line and "Avg prompt" not in line and "200 OK" not in line]


def test_steps_after_a_traceback_show_that_the_boot_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*START, "Traceback (most recent call last):", *(STEP.format(number) for number in range(20))]
    reading = _both_ways(tmp_path, monkeypatch, lines)
    (boot,) = reading.tables["boots"]
    assert (boot["outcome"], boot["outcome_line"]) == ("served", len(START) + 2)
    assert _steps(reading) == [("a", number) for number in range(20)]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    "wrapper", ["vllm-b  | {}", "Nov 29 13:00:00 host vllm-b[12]: {}", "2026-11-29T13:00:00.5Z stdout F vllm-b  | {}"]
)
def test_a_bare_engine_claims_no_step_of_a_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapper: str, first: int
) -> None:
    steps = [("{}", wrapper)[(number + first) % 2].format(STEP.format(number)) for number in range(20)]
    reading = _both_ways(tmp_path, monkeypatch, [*START, *map(wrapper.format, START), *steps])
    names = ("a#unnamed", "a#vllm-b")
    assert _steps(reading) == [(names[(number + first) % 2], number) for number in range(20)]


def test_a_step_that_does_not_parse_is_quoted_without_its_wrapper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [STEP.format(number) for number in range(3)]
    odd = [steps[1].replace("context tokens", "tokens"), steps[1].replace("(1)", "(\x1b[1m7\x1b[0m)")]
    wrapped = [f"vllm  | {line}" for line in (*START, steps[0], *odd, steps[2])]
    reading = _both_ways(tmp_path, monkeypatch, wrapped)
    assert reading.unparsed == [Unparsed(len(START) + 2, "boot line: step", odd[0])]
    assert _steps(reading) == [("a", 0), ("a", 7), ("a", 2)]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("vllm  | x", True),
        ("\x1b[36mvllm-b  |\x1b[0m x", True),
        ("2026-11-29T13:00:00.5Z stdout F vllm | x", True),
        ("a.log:12:[pod/vllm-0/main] x", True),
        ("Nov 29 13:00:00 host vllm[12]: x", True),
        ("progress\rvllm | x", True),
        ('{"log": "vllm | x"}', True),
        ('{"log": "x"}', False),
        ("2026-11-29T13:00:00.5Z stdout F x", False),
        ("(EngineCore pid=7) INFO 11-29 13:56:38 [loggers.py:199] Engine 000: x | y", False),
        ("[2026-11-29 13:00:00 TP0] Decode batch. #running-req: 1", False),
        ("slot print_timing: id  0 | task 0 | prompt eval time = 1", False),
    ],
)
def test_whether_a_line_names_its_service(line: str, named: bool) -> None:
    assert name_services(pl.Series([line])).to_list() == [named]
    assert any(piece.service is not None for piece in unwrap(line)) == named


@pytest.mark.parametrize("size", [2_000, 2_700, 70_000])
def test_where_blocks_end_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    config = [
        "2025-05-01T01:29:56.034102Z  INFO text_generation_launcher: Args {",
        *(f"    max_{number}_tokens: Some(\n        {number},\n    )," for number in range(20)),
        "}",
    ]
    lines = _worked(1_997) + config + [STEP.format(number) for number in range(50)]
    whole = _read(tmp_path, lines)
    assert "arg.max_19_tokens" in {row["fact"] for row in whole.tables["boot_facts"]}
    monkeypatch.setattr(log_blocks, "BLOCK_BYTES", size)
    parts = _read(tmp_path, lines)
    assert {name: pl.DataFrame(rows).to_dicts() for name, rows in parts.tables.items()} == {
        name: pl.DataFrame(rows).to_dicts() for name, rows in whole.tables.items()
    }


@pytest.mark.parametrize(
    ("line", "service", "others", "strangers"),
    [
        ("vllm-1  | x", "vllm-1", ["vllm-1  | y"], ["vllm-2  | x", "vllm-10 | x", "my-vllm-1  | x"]),
        (
            "Nov 29 13:00:00 host2 vllm[12]: x",
            "vllm",
            ["Nov 30 04:05:06 host2 vllm[3456]: y"],
            ["Nov 29 13:00:00 other vllm[12]: x", "Nov 29 13:00:00 host2 vllm2[12]: x"],
        ),
        ("[pod/vllm-0/main] x", "vllm-0/main", ["[pod/vllm-0/main] y"], ["[pod/vllm-1/main] y"]),
        ('{"log": "a (b) | x"}', "a (b)", ['{"log": "a (b) | y"}'], ['{"log": "a b | y"}']),
    ],
)
def test_the_front_of_a_line_tells_its_service(
    line: str, service: str, others: list[str], strangers: list[str]
) -> None:
    pattern = front(line, service)
    assert pattern is not None
    assert pl.Series([line, *others]).str.contains(pattern).all()
    assert not pl.Series(strangers).str.contains(pattern).any()


def test_a_front_without_its_service_has_no_pattern() -> None:
    assert front("x y z", "vllm") is None


RANKS = {
    "data-parallel engines": (
        "(APIServer pid=7) INFO 11-29 13:09:45 [loggers.py:9] Engine {0:03}: Avg prompt throughput: {1}.6 tokens/s, R",
        "throughput",
    ),
    "ranks": ("[2026-11-29 13:09:45 DP{0} TP0] Decode batch. #running-req: {1}, #token: 5", "throughput"),
    "records": (
        '{{"levelname": "INFO", "processName": "EngineCore_DP{0}", "process": {0}, '
        '"message": "Avg prompt throughput: {1}.6 tokens/s, Running"}}',
        "throughput",
    ),
    "shutdowns": ("(EngineCore_DP{0} pid={0}) INFO 11-29 13:09:45 [core.py:9] [shutdown] Engine goes {1}", "shutdown"),
}


@pytest.mark.parametrize("most", [boot_processes.MAX_TOLD, 2, 1])
@pytest.mark.parametrize("rank", RANKS)
def test_the_first_line_of_each_process_counts_wherever_another_was_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: str, most: int
) -> None:
    """Also where more processes speak than are told apart."""
    monkeypatch.setattr(boot_processes, "MAX_TOLD", most)
    shape, fact = RANKS[rank]
    head = [line for line in HEAD if "Avg prompt throughput" not in line]
    if rank == "ranks":
        head = ["[2026-11-29 13:09:00] server_args=ServerArgs(model_path='m', dp_size=3)"]
    said = [shape.format(engine, number) for number in range(500) for engine in (0, 1, 2)[: 1 + (number > 200) * 2]]
    rows = _read(tmp_path, head + said).tables["boot_facts"]
    assert [(row["engine_index"], row["line"] - len(head)) for row in rows if row["fact"] == fact] == [
        (0, 1), (1, 203), (2, 204),
    ]  # fmt: skip


def test_engines_that_only_log_steps_through_one_process_are_counted(tmp_path: Path) -> None:
    steps = [STEP.format(number).replace("Engine 000", f"Engine {number % 3:03}") for number in range(90)]
    (boot,) = _read(tmp_path, [*HEAD, *steps]).tables["boots"]
    (alone,) = _read(tmp_path, [*HEAD, *steps[::3]]).tables["boots"]
    assert (boot["engines"], alone["engines"]) == (3, 1)
    # Two of them printed no pool.
    assert (boot["token_pool_total_tokens"], alone["token_pool_total_tokens"]) == (None, alone["token_pool_tokens"])


def test_a_step_that_does_not_parse_is_listed_and_no_part_of_the_boot(tmp_path: Path) -> None:
    lines = [
        *HEAD,
        *(STEP.format(number) for number in range(100)),
        "INFO: Iteration(7): 1 context requests, and no more",
    ]
    reading = _read(tmp_path, [line.replace("Iteration(50)", "Iteration(x)") for line in lines])
    assert [u.line for u in reading.unparsed] == [len(HEAD) + 51, len(HEAD) + 101]
    assert [row["last_line"] for row in reading.tables["boots"]] == [len(HEAD) + 100]


@pytest.mark.parametrize("end", ["", "\n"])
def test_returns_end_the_lines_of_a_file_without_newlines_and_only_there(tmp_path: Path, end: str) -> None:
    wanted = _read(tmp_path, HEAD)
    (tmp_path / "b.log").write_bytes(("\r".join(HEAD) + end).encode())
    path = tmp_path / "b.log"
    got = boot_log.read(SourceFile("a.log", path, path.stat().st_size, 0.0))
    assert got.tables == wanted.tables
    assert got.unparsed == wanted.unparsed


def test_a_line_after_a_long_progress_bar_is_read_with_the_number_of_its_line(tmp_path: Path) -> None:
    bar = "\r".join(f"Capturing CUDA graphs: {number:6}|#####     | 00:01<00:01" for number in range(3_000))
    at = next(n for n, line in enumerate(HEAD) if "KV cache size" in line)
    glued = _read(tmp_path, [*HEAD[:at], f"{bar}\r{HEAD[at]}", *HEAD[at + 1 :]])
    assert glued.tables == _read(tmp_path, HEAD).tables


def test_lines_after_a_progress_bar_of_many_blocks_are_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_blocks, "BLOCK_BYTES", 2_000)
    bar = "".join(f"Capturing CUDA graphs: {number:6}|#####     |\r" for number in range(60))
    path = tmp_path / "a.log"
    path.write_bytes((bar + "\r\n".join(HEAD) + "\r\n").encode())
    rows = boot_log.read(SourceFile("a.log", path, path.stat().st_size, 0.0)).tables["boot_facts"]
    wanted = _read(tmp_path, HEAD).tables["boot_facts"]
    assert [row["line"] - 60 for row in rows] == [row["line"] for row in wanted]


def test_the_time_of_what_was_passed_over_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [STEP.format(number).replace("13:56:38", f"{14 + number // 10}:09:45") for number in range(40)]
    lines = [HEAD[0].replace("13:04:18", "14:09:45"), *steps, "Traceback (most recent call last):"]
    rows = _read(tmp_path, lines).tables["boot_facts"]
    started = next(row["since_start_s"] for row in rows)
    (told,) = [row["since_start_s"] for row in rows if row["fact"] == "traceback"]
    assert (started, told) == (0.0, 3 * 3600.0)


def test_api_servers_that_only_log_steps_are_counted(tmp_path: Path) -> None:
    steps = [STEP.format(number).replace("APIServer", f"ApiServer_{number % 3}") for number in range(30)]
    (boot,) = _read(tmp_path, [START[0], *steps]).tables["boots"]
    (alone,) = _read(tmp_path, [START[0], *steps[::3]]).tables["boots"]
    assert (boot["api_servers"], alone["api_servers"]) == (3, 1)


@pytest.mark.parametrize("before", [0, 1 << 20, 3 << 20])
def test_a_line_that_is_too_long_is_cut_and_said_so_wherever_it_stands(tmp_path: Path, before: int) -> None:
    path = tmp_path / "a.log"
    path.write_text("x\n" * (before // 2) + "\n".join([*HEAD, "é" * (3 << 20), *HEAD[-2:]]) + "\n")
    file = SourceFile("a.log", path, path.stat().st_size, 0.0)
    assert boot_log.read(file).message == "a line is longer than 1,048,576 characters and was cut"
    longest = max((len(line.text) for line in log_blocks.every_line(file)), default=0)
    assert longest == 1 << 20


@pytest.mark.parametrize(
    "wrap",
    [
        lambda line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-11-29T13:00:00Z"}),
        lambda line: f"│ {line:60} │",
        lambda line: f"vllm  | {line}",
        lambda line: f"{line}\r",
    ],
    ids=["docker", "k9s", "compose", "crlf"],
)
def test_a_configuration_over_many_lines_is_read_in_any_wrapper(tmp_path: Path, wrap: Callable[[str], str]) -> None:
    args = ["non-default args: {", "  'max_num_batched_tokens': 2048,", "  'seed': 7", "}"]
    rows = _read(tmp_path, [HEAD[0], wrap(f"(APIServer pid=5923) INFO 11-29 13:04:18 [utils.py:233] {args[0]}"),
                            *map(wrap, args[1:])]).tables["boot_facts"]  # fmt: skip
    found = {row["fact"]: row["value"] for row in rows}
    assert (found.get("arg.max_num_batched_tokens"), found.get("arg.seed")) == (2048.0, 7.0)
