"""The reader of engine logs: what it takes, what it leaves, and what it does with logs it has never seen."""

import random
from pathlib import Path

import polars as pl
import pytest

from analysis import paths
from analysis.sources import boot_log
from analysis.sources.files import SourceFile
from analysis.sources.reading import Reading, Row

REAL = sorted((paths.DATA / "vllm-cpu" / "boots").glob("*.log"))
VLLM = "(APIServer pid=1) INFO 11-03 10:00:01 [api_server.py:1772] vLLM API server version 0.10.2\n"
POOL = "(EngineCore_DP0 pid=7) INFO 11-03 10:01:02 [kv_cache_utils.py:1755] GPU KV cache size: 412,800 tokens\n"
READY = "INFO:     Application startup complete.\n"


def read(tmp_path: Path, text: str | bytes, name: str = "a.log") -> Reading:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return boot_log.read(SourceFile(name, path, path.stat().st_size, 0.0))


def boots(reading: Reading) -> list[Row]:
    return reading.tables.get("boots", [])


def only(reading: Reading) -> Row:
    (row,) = boots(reading)
    return row


def facts(reading: Reading, name: str) -> list[tuple[float | None, str | None]]:
    return [(row["value"], row["unit"]) for row in reading.tables["boot_facts"] if row["fact"] == name]


# what study.toml's recorder noted: outcome, pool, available GiB, length, batched tokens
NOTED = {
    "A0-crash": ("served", 518083, 3.91, 8192, 2048),
    "A2": ("served", 518083, 3.91, 8192, 2048),
    "B1": ("served", 225480, 3.92, 8192, 8192),
    "C3": ("served", 224266, 4.05, 2048, 2048),
    "D2": ("served", 999378, 4.03, 32768, 2048),
    "F1": ("served", 264713, 2.0, 8192, 2048),
    "R1": ("refused", None, 0.06, 32768, 2048),
    "X0-sigterm-during-boot": ("crashed", 318373, 2.41, 8192, 2048),
}


@pytest.mark.parametrize("boot", NOTED)
def test_a_recorded_boot_is_read_as_it_was_noted(boot: str) -> None:
    path = paths.DATA / "vllm-cpu" / "boots" / f"{boot}.log"
    row = only(boot_log.read(SourceFile(f"boots/{boot}.log", path, path.stat().st_size, 0.0)))
    columns = ("outcome", "token_pool_tokens", "available_kv_gib_min", "max_model_len_tokens", "max_num_batched_tokens")
    assert tuple(row[column] for column in columns) == NOTED[boot]
    assert row["engine_version"] == "0.32.0"
    assert row["compile_state"] == "none"


def test_an_ordered_shutdown_is_not_a_death_and_a_crash_under_load_is() -> None:
    died = {}
    for boot in ("A0-crash", "B2", "D2"):
        path = paths.DATA / "vllm-cpu" / "boots" / f"{boot}.log"
        died[boot] = only(boot_log.read(SourceFile("x", path, 0, 0.0)))["died_after_serving"]
    assert died == {"A0-crash": True, "B2": False, "D2": False}


def test_steps_are_rows_in_seconds(tmp_path: Path) -> None:
    line = (
        "(APIServer pid=25247) INFO 11-29 13:56:38 [loggers.py:199] Engine 001: Iteration(7): 1 context requests, "
        "1,204 context tokens, 2 generation requests, 2 generation tokens, iteration elapsed time: 415.86 ms, "
        "CPU KV cache usage: 0.1%\n"
    )
    reading = read(tmp_path, VLLM + line)
    steps = pl.DataFrame(reading.tables["engine_steps"])
    assert steps.to_dicts() == [
        {
            "boot": "a",
            "line": 2,
            "iteration": 7,
            "engine_index": 1,
            "logged_at_text": "11-29 13:56:38",
            "context_requests": 1,
            "context_tokens": 1204,
            "generation_requests": 2,
            "generation_tokens": 2,
            "elapsed_s": 0.41586,
        }
    ]
    assert only(reading)["outcome"] == "served"


def test_a_known_line_that_does_not_parse_is_kept_as_unparsed(tmp_path: Path) -> None:
    reading = read(tmp_path, VLLM + POOL.replace("412,800", "lots of") + READY)
    assert [(u.line, u.what) for u in reading.unparsed] == [(2, "boot line: pool")]
    assert only(reading)["token_pool_tokens"] is None


@pytest.mark.parametrize(
    "number", ["1,04", "412,80", "4128,00", "1" * 19, "9" * 10_000, "-5", "4e5", "NaN", "12.5", "٣", ""]
)
def test_a_number_that_is_not_one_is_never_read(tmp_path: Path, number: str) -> None:
    reading = read(tmp_path, VLLM + POOL.replace("412,800", number) + READY)
    assert only(reading)["token_pool_tokens"] is None
    assert len(reading.unparsed) == 1


def test_the_last_line_without_an_end_has_no_number_at_its_end(tmp_path: Path) -> None:
    line = "(APIServer pid=1) INFO 11-03 10:00:09 [model.py:1750] Using max model len 327"
    assert only(read(tmp_path, VLLM + line + "\n"))["max_model_len_tokens"] == 327
    cut = read(tmp_path, VLLM + line)
    assert only(cut)["max_model_len_tokens"] is None
    assert cut.unparsed[0].what == "boot line: model_len"


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "mark"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_log_reads_the_same_in_every_encoding(tmp_path: Path, encoding: str, mark: str) -> None:
    text = (VLLM + POOL + READY).replace("\n", "\r\n")
    row = only(read(tmp_path, (mark + text).encode(encoding)))
    assert (row["outcome"], row["token_pool_tokens"], row["engine_version"]) == ("served", 412_800, "0.10.2")
    assert (row["first_line"], row["last_line"]) == (1, 3)


def test_only_so_many_unparsed_lines_are_kept(tmp_path: Path) -> None:
    reading = read(tmp_path, VLLM + POOL.replace("412,800", "lots of") * 1200 + READY)
    assert len(reading.unparsed) == 1000
    assert reading.message == "more than 1,000 lines do not parse; only the first ones are listed"


def test_a_second_boot_starts_where_the_process_starts_again(tmp_path: Path) -> None:
    reading = read(tmp_path, (VLLM + POOL + READY) * 3)
    assert [(row["boot"], row["first_line"], row["ordinal"]) for row in boots(reading)] == [
        ("a#1", 1, 0),
        ("a#2", 4, 1),
        ("a#3", 7, 2),
    ]


def test_services_of_one_file_are_boots_of_their_own(tmp_path: Path) -> None:
    lines = [(VLLM, VLLM), (POOL, POOL.replace("412,800", "99,200")), (READY, READY)]
    text = "".join(f"big-1    | {a}small-1  | {b}proxy-1  | GET /\n" for a, b in lines)
    reading = read(tmp_path, text)
    assert [(row["boot"], row["token_pool_tokens"]) for row in boots(reading)] == [
        ("a#big-1", 412800),
        ("a#small-1", 99200),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '# HELP vllm:prompt_tokens_total x\nvllm:prompt_tokens_total{model_name="m"} 5.0\n',
        '{"backend": "vllm", "completed": 4, "ttfts": [0.1]}\n',
        "vLLM prints `GPU KV cache size: 412,800 tokens` when it boots.\n",
        "| Pool | GPU KV cache size: 412,800 tokens | 0.8 |\n",
        "> (EngineCore pid=1) INFO 11-03 10:01:02 [x.py:1] GPU KV cache size: 412,800 tokens\n",
        "INFO:     Application startup complete.\n",
        "Traceback (most recent call last):\nRuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n",
        "",
        "\x00" * 1000,
    ],
)
def test_what_is_not_a_log_is_not_taken(text: str) -> None:
    assert not boot_log.recognise(text, "x.log")


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_recorded_log_is_taken(path: Path) -> None:
    assert boot_log.recognise(path.read_bytes()[:65536].decode(errors="replace"), path.name)


def test_a_long_line_and_a_missing_end_do_no_harm(tmp_path: Path) -> None:
    reading = read(tmp_path, VLLM + "x" * 9_000_000 + "\n" + POOL + READY)
    assert only(reading)["token_pool_tokens"] == 412800
    assert only(reading)["last_line"] == 4
    assert reading.message == "a line is longer than 1,048,576 characters and was cut"


def test_mutated_logs_never_break_the_reader(tmp_path: Path) -> None:
    source = b"".join(path.read_bytes()[:12_000] for path in REAL[:4])
    generator = random.Random(20261129)
    for _ in range(60):
        data = bytearray(source)
        for _ in range(generator.randrange(1, 60)):
            start = generator.randrange(len(data))
            piece = data[start : start + generator.randrange(1, 80)]
            change = generator.choice([b"", bytes(piece) * 2, b"\x00", b"\n", b"\r", b"\xff", b"9" * 40, b"{", b'"'])
            data[start : start + len(piece)] = change
        reading = read(tmp_path, bytes(data))
        for row in boots(reading):
            assert row["outcome"] in ("served", "refused", "crashed", "unknown")
            assert row["first_line"] <= row["last_line"]
            assert row["token_pool_tokens"] is None or row["token_pool_tokens"] >= 0
