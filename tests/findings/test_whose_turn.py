"""Whose turn it is, on every recorded engine, against what the engine itself says; and the published table."""

import json
import re
import shutil
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis import paths
from analysis.findings import turn_figures, turn_tables, turn_words, whose_turn
from analysis.study import Study

STUDIES = ("vllm-cpu-iterations", "vllm-cpu-mixed", "vllm-cpu", "llamacpp")
RIGHT = {
    "T512": ("interleaved", 512), "T8192": ("one_block", 8192), "S512": ("interleaved", 512),
    "S8192": ("one_block", 8192), "A1": ("interleaved", 2048), "A2": ("interleaved", 2048), "B1": ("one_block", 8192),
    "C1": ("one_block", 2048), "D1": ("interleaved", 2048), "G512": ("interleaved", 2048),
}  # fmt: skip
"""Each recorded setting: what its long prompts must show, and the most tokens of a step (-b, not -ub)."""


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Study]:
    """The recorded studies without their metric pages, which say nothing about turns and take long to read."""
    place = tmp_path_factory.mktemp("data")
    before, paths.STORES = paths.STORES, tmp_path_factory.mktemp("stores")
    try:
        for name in STUDIES:
            for part in ("boots", "requests"):
                shutil.copytree(paths.DATA / name / part, place / name / part)
        return {name: Study(place / name) for name in STUDIES}
    finally:
        paths.STORES = before


@pytest.fixture(scope="module")
def runs(studies: dict[str, Study]) -> dict[str, whose_turn.Run]:
    return {run.name: run for study in studies.values() for run in whose_turn.runs(study.connection)}


@pytest.mark.parametrize("name", RIGHT)
def test_the_verdict_is_right_on_every_recorded_setting(runs: dict[str, whose_turn.Run], name: str) -> None:
    run, (verdict, budget) = runs[name], RIGHT[name]
    assert run.verdict.verdict == verdict
    block = run.of(whose_turn.BLOCK)
    assert block.verdict == verdict
    assert block.low is not None
    assert block.high is not None
    assert block.low <= budget <= block.high
    assert max(max(t.prompts) for t in run.verdict.tested) > budget or verdict == "one_block"


def test_the_crashed_boot_cannot_be_told(runs: dict[str, whose_turn.Run]) -> None:
    assert set(runs) - set(RIGHT) == {"A0-crash"}
    run = runs["A0-crash"]
    assert (run.verdict.verdict, run.verdict.why) == ("cannot_tell", whose_turn.NO_SPLIT)
    assert run.of(whose_turn.BLOCK).reason == whose_turn.NO_SPLIT


def test_the_step_log_is_the_truth(runs: dict[str, whose_turn.Run]) -> None:
    """Against the raw lines: the largest step, and that the longest prompt of T8192 was one step of that size."""
    for name in ("T512", "T8192"):
        log = (paths.DATA / "vllm-cpu-iterations" / "boots" / f"{name}.log").read_text()
        sizes = [int(size) for size in re.findall(r"(\d+) context tokens", log)]
        assert runs[name].largest_step == max(sizes)
        assert runs[name].true_steps == sum(size > 0 for size in sizes)
        assert turn_tables.agreement(runs[name]) == "yes, with its step log"
    assert runs["T8192"].of(whose_turn.BLOCK).value == runs["T8192"].largest_step == 6089


def _blocks_of_llamacpp() -> list[list[int]]:
    """The blocks of each long prompt beside decodes, as the server reports its progress."""
    log = (paths.DATA / "llamacpp" / "boots" / "G512.log").read_text()
    tasks: dict[str, list[int]] = {}
    for task, tokens in re.findall(r"task (\d+) \| prompt processing, n_tokens = +(\d+)", log):
        tasks.setdefault(task, [0]).append(int(tokens))
    return [[b - a for a, b in pairwise(done)] for done in tasks.values() if done[-1] > 4000][-3:]


def test_the_blocks_of_llamacpp_are_what_its_log_reports(runs: dict[str, whose_turn.Run]) -> None:
    """-b 2048, less one token for each stream: not -ub 512, which is the size of a kernel and holds nobody up."""
    blocks = _blocks_of_llamacpp()
    assert [b[0] for b in blocks] == [2045, 2045, 2046]
    assert [b[-1] for b in blocks] == [512, 512, 512]  # the tail is cut off for a checkpoint: blocks are not all equal
    run = runs["G512"]
    assert [len(t.excess_s) >= 3 for t in run.verdict.tested] == [True] * 3
    block = run.of(whose_turn.BLOCK)
    assert (block.low or 0) <= 2045 <= (block.high or 0)
    assert any("some blocks are smaller" in w for w in block.warnings)


def test_one_turn_by_hand(runs: dict[str, whose_turn.Run]) -> None:
    """The longest prompt of T8192 from the raw trace: its wait, and the longest silence of all streams inside it."""
    lines = (paths.DATA / "vllm-cpu-iterations" / "requests" / "T8192" / "trace.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    long = next(row for row in rows if row["prompt_tokens"] == 6089)
    arrivals = sorted(t for row in rows for t in row.get("token_at") or [])
    gaps = [(b - a) for a, b in pairwise(arrivals) if b > long["sent_at"] and a < long["first_token_at"]]
    turn = next(t for t in runs["T8192"].turns if t.prompts == (6089.0,))
    assert turn.end_s - turn.start_s == pytest.approx(long["first_token_at"] - long["sent_at"])
    assert turn.longest_gap_s == pytest.approx(max(gaps))
    assert turn.excess_s[0] == pytest.approx(max(gaps) - turn.usual_s, abs=0.1)


def test_documents_that_always_overlap_are_read_as_groups(runs: dict[str, whose_turn.Run]) -> None:
    groups = [t for t in runs["S8192"].verdict.usable if len(t.prompts) > 1]
    assert len(groups) == 7
    assert min(t.share for t in groups) > 0.9


def test_each_turn_left_out_has_its_reason_and_is_counted(runs: dict[str, whose_turn.Run]) -> None:
    for run in runs.values():
        assert sum(turn_tables.left_out(run).values()) + len(run.verdict.usable) == len(run.turns)
    assert turn_tables.left_out(runs["A1"])[whose_turn.WARM_UP] == 3


def test_evidence_points_at_the_lines_of_the_long_prompts(runs: dict[str, whose_turn.Run]) -> None:
    evidence = runs["T512"].of(whose_turn.BLOCK).evidence
    lines = (paths.DATA / "vllm-cpu-iterations" / "requests" / "T512" / "trace.jsonl").read_text().splitlines()
    named = {json.loads(lines[(e.line or 0) - 1])["prompt_tokens"] for e in evidence}
    assert named == {max(t.prompts) for t in runs["T512"].verdict.tested}


def test_the_sentence_names_each_run_with_its_block(studies: dict[str, Study]) -> None:
    found = whose_turn.runs(studies["vllm-cpu"].connection)
    said = turn_words.sentence(found)
    assert said.startswith(
        "In B1 (prompts of up to 5,977 tokens; a step may hold 8,192, so it would not cut them) and C1 "
        "(prompts of up to 1,862 tokens; a step may hold 2,048, so it would not cut them) a long prompt was not cut"
    )
    assert ". In A1 (about " in said
    assert said.endswith(
        "a long prompt is cut into blocks that take turns with decode. C1 has the limit of A1, A2 and D1: its prompts "
        "were only shorter than a step. It cannot be told for A0-crash."
    )
    assert "prefix cache" in turn_words.unless(found)


def test_the_next_step_says_what_was_seen_and_extrapolates_nothing(studies: dict[str, Study]) -> None:
    """Of T512, 98 % of the full mixed steps took more than half a second: no size of step promises a silence."""
    said = turn_words.next_step(whose_turn.runs(studies["vllm-cpu-iterations"].connection))
    assert said == (
        "For shorter silences set smaller steps (max_num_batched_tokens in vLLM, --batch-size in llama.cpp) and "
        "measure again. Seen: steps of 512 tokens, silences up to 1.06 s (T512); prompts of up to 6,089 tokens in one "
        "block, silences up to 6.59 s (T8192). Long prompts, not all of one length, waited for their first token "
        "6.26 s in T512 (median of 15), 4.73 s in T8192 (median of 16)."
    )


def test_the_published_table_is_what_the_data_give(runs: dict[str, whose_turn.Run]) -> None:
    text = (paths.ROOT / "docs" / "whose-turn.md").read_text()
    published = text.split("<!-- table -->")[1].split("<!-- /table -->")[0].strip().splitlines()
    wanted = [_row(runs[name]) for name in RIGHT]
    assert published[2:] == wanted, "\n".join(wanted)


def _row(run: whose_turn.Run) -> str:
    prompts = [max(t.prompts) for t in run.verdict.usable]
    truth = {"G512": "2,045 by its progress log"}.get(run.name) or (
        f"{run.largest_step:,} by its step log" if run.largest_step else f"{run.budget:,} by its setting"
    )
    block = run.of(whose_turn.BLOCK)
    ends = f"at least {block.low:,.0f}" if np.isinf(block.high or 0) else f"{block.low:,.0f} to {block.high:,.0f}"
    turns = f"{len(run.verdict.usable)} of {len(run.turns)}"
    lengths = f"{min(prompts):,.0f} to {max(prompts):,.0f}"
    s = run.verdict.share.value or 0
    return f"| {run.name} | {lengths} | {turns} | {s:.2f} | {run.verdict.verdict} | {ends} | {truth} |"


def test_the_frames_of_the_figures_hold_what_they_say(studies: dict[str, Study]) -> None:
    connection = studies["vllm-cpu-iterations"].connection
    found = whose_turn.runs(connection)
    chosen = turn_figures.example(found)
    assert [run.name for run, _, _ in chosen] == ["T8192", "T512"]
    ticks = turn_figures.arrivals(chosen)
    assert ticks.filter(kind="stall", run="T8192").height == 1
    assert ticks.filter(kind="stall", run="T512").height == 11
    assert ticks.filter(kind="turn").height == 2
    assert ticks.filter(kind="token")["row"].n_unique() == 4
    assert "once in T8192 (at most 6.59 s), 11 times in T512" in turn_figures.describe_arrivals(chosen)["title"]
    blocks = turn_figures.blocks(found)
    assert blocks.filter(pl.col("block_tokens") > pl.col("prompt_tokens")).height == 0
    steps = turn_figures.steps(connection)
    assert steps.filter(run="T8192")["prompt_tokens"].max() == 6089
    assert steps.filter(run="T512")["prompt_tokens"].max() == 509
    assert steps.filter(pl.col("end_s") <= pl.col("start_s")).height == 0


def test_to_choose_a_turn_the_streams_of_a_run_are_looked_through_once(
    runs: dict[str, whose_turn.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day has tens of thousands of streams, and thousands of turns."""
    looked: list[whose_turn.Record] = []
    spans = turn_figures._spans
    monkeypatch.setattr(turn_figures, "_spans", lambda record: looked.append(record) or spans(record))
    of = runs["T512"]
    [(_, _, turn)] = turn_figures.example([of])
    assert len(looked) == len(of.records) == 1
    assert len(of.records[0].usable) > 1
    assert len(turn.excess_s) > 0


def _write(folder: Path, rows: list[dict]) -> Study:
    file = folder / "requests" / "trace.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Study(folder)


def _trace(i: int, sent: float, at: list[float], tokens: int | None) -> dict:
    return {
        "request_id": f"r{i}", "sent_at": sent, "first_token_at": at[0] if at else None, "token_at": at,
        "finished_at": at[-1] if at else sent + 1, "prompt_tokens": tokens, "status": "ok",
    }  # fmt: skip


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    return tmp_path / "study"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([_trace(1, 0, [], 10)], "no request record has the arrivals"),
        ([_trace(1, 0, [1.0, 2.0, 3.0], 10)], whose_turn.NO_SPLIT),
        ([_trace(1, 0, [1.0, 2.0, 3.0], None), _trace(2, 0, [1.0, 1.0, 1.0], None)], whose_turn.NO_SPLIT),
        (
            [_trace(i, i, [i + 1.0, i + 2.0, i + 3.0], 10 + 9000 * (i % 2)) for i in range(9)],
            "0 long prompts were sent",
        ),
    ],
    ids=["no tokens", "one request", "no lengths", "always a long prompt"],
)
def test_little_data_says_what_is_missing(stores: Path, rows: list[dict], why: str) -> None:
    study = _write(stores, rows)
    found = whose_turn.runs(study.connection)
    assert why in turn_words.sentence(found)
    assert "make trace" in turn_words.next_step(found)
    estimates = whose_turn.estimates(found)
    assert all(e.value is None and e.reason for e in estimates)
    chosen = turn_figures.example(found)
    for frame in (turn_tables.verdicts(found), turn_tables.cross_checks(found), turn_tables.score(found)):
        assert frame.height == len(found)
    assert turn_figures.arrivals(chosen).filter(kind="token").height == 0
    for texts in (turn_figures.describe_arrivals(chosen), turn_figures.describe_blocks(found)):
        assert all(texts.values())


def test_folders_are_places_where_no_boot_is_known(stores: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [_trace(i, 0.5 * i, list(np.cumsum(rng.uniform(0.05, 0.06, 400)) + i), 50) for i in range(3)]
    study = _write(stores, rows)
    (run,) = whose_turn.runs(study.connection)
    assert run.boot is None
    assert run.of(whose_turn.BLOCK).qualifiers == {"target": "requests"}


def _steps(boot: str) -> list[tuple[float, int]]:
    """When each logged step with a prompt ended (to the second; this machine logged in UTC), and its prompt tokens."""
    log = (paths.DATA / "vllm-cpu-iterations" / "boots" / f"{boot}.log").read_text()
    found = re.findall(r"INFO (11-\d\d \d\d:\d\d:\d\d) .*Iteration\(\d+\): \d+ context requests, (\d+) context", log)
    times = [datetime.strptime(f"2026-{at} +0000", "%Y-%m-%d %H:%M:%S %z").timestamp() for at, _ in found]
    return [(at, int(tokens)) for at, (_, tokens) in zip(times, found, strict=True) if int(tokens)]


def test_step_by_step_each_block_that_can_be_seen_was_one_stall(runs: dict[str, whose_turn.Run]) -> None:
    """Turn by turn against the step log: blocks of 150 tokens and more, which take about one usual gap."""
    wrong = {}
    for name in ("T512", "T8192"):
        steps, wrong[name] = _steps(name), 0
        for turn in runs[name].verdict.usable:
            least = 150 if name == "T512" else 1000  # in T8192, chats are below and documents are one block
            blocks = [n for at, n in steps if turn.start_s - 1 <= at <= turn.end_s + 1 and n >= least]
            own = blocks[blocks[0] < 500 :]  # a step that is not full before the first full one: a chat's prompt
            wrong[name] += len(own) != len(turn.excess_s)
    assert wrong == {"T512": 1, "T8192": 0}, "docs/whose-turn.md says so"
    assert (len(runs["T512"].verdict.usable), len(runs["T8192"].verdict.usable)) == (15, 16)


def test_an_engine_recorded_after_the_rules_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of 1,024 tokens (vLLM) on a crowded machine, traced by `make trace`; nothing was chosen on it."""
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    study = Study(Path(__file__).parents[1] / "samples" / "turns")
    (run,) = whose_turn.runs(study.connection)
    assert run.largest_step == 1021
    assert run.verdict.verdict == "interleaved"
    block = run.of(whose_turn.BLOCK)
    text = (paths.ROOT / "docs" / "whose-turn.md").read_text()
    assert f"{block.low:,.0f} to {block.high:,.0f}" in text
    assert (block.low or 0) <= run.largest_step <= (block.high or 0)
    assert turn_tables.agreement(run) == "yes, with its step log"
    assert len(run.verdict.usable) == 14
