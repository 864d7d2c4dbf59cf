"""The requests sections of the facts, against hand-checked cases and small studies."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings.facts_requests import facts
from analysis.store.load import load

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS / "samples" / "requests"
CASES = [case for case in sorted((TESTS / "cases").iterdir()) if (case / "requests").is_dir()]


def facts_of(folder: Path, scratch: Path) -> dict[str, Any]:
    database = scratch / "facts.duckdb"
    load(folder, database)
    with duckdb.connect(str(database), read_only=True) as connection:
        return facts(connection)


def assert_agrees(want: Any, got: Any, path: str) -> None:
    """The rule of the cases: numbers to one part in a million, null only where null is expected."""
    if isinstance(want, dict):
        for key, value in want.items():
            assert key in got, f"{path}.{key} is not offered"
            assert_agrees(value, got[key], f"{path}.{key}")
    elif isinstance(want, list):
        assert len(want) == len(got), path
        for index, (w, g) in enumerate(zip(want, got, strict=True)):
            assert_agrees(w, g, f"{path}[{index}]")
    elif isinstance(want, int | float) and not isinstance(want, bool):
        assert got is not None, path
        assert math.isclose(want, got, rel_tol=1e-6, abs_tol=1e-9), f"{path}: wanted {want}, got {got}"
    else:
        assert want == got, path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, tmp_path: Path) -> None:
    want = json.loads((case / "expected.json").read_text())
    got = facts_of(case, tmp_path)
    for section in ("requests", "reconcile"):
        if section in want:
            assert_agrees(want[section], got.get(section), section)


def copy(target: Path, **names: str) -> Path:
    """A study of samples: file in the study = sample (dots of the file as two underscores)."""
    target.mkdir()
    for name, sample in names.items():
        shutil.copy(SAMPLES / sample, target / name.replace("__", "."))
    return target


def test_exports_of_one_run_are_counted_once(tmp_path: Path) -> None:
    """Records, raw records and a summary of one aiperf run lie side by side; the raw ones know most."""
    study = copy(
        tmp_path / "s", a__jsonl="aiperf-records.jsonl", b__jsonl="aiperf-raw.jsonl", c__json="aiperf-summary.json",
        d__json="aiperf-inputs.json",
    )  # fmt: skip
    got = facts_of(study, tmp_path)["requests"]
    assert (got["format"], got["file"], got["also_in"]) == ("aiperf-raw", "b.jsonl", ["a.jsonl", "c.json"])
    assert (got["completed"], got["output_tokens"], got["finish"]) == (6, 36, {"stop": 6})
    assert got["mean_ttft_ms"] == pytest.approx(267.3793715)


def test_a_stage_report_beside_its_requests_is_not_another_run(tmp_path: Path) -> None:
    study = copy(tmp_path / "s", p__json="inference-perf-per-request.json", s__json="inference-perf-stage.json")
    got = facts_of(study, tmp_path)["requests"]
    assert (got["completed"], got["failed"], got["also_in"]) == (2, 1, ["s.json"])
    assert (got["mean_ttft_ms"], got["mean_tpot_ms"]) == (pytest.approx(60), pytest.approx(8))


@pytest.mark.parametrize(
    ("sample", "figures"),
    [
        (
            "vllm-bench-detailed.json",
            {"mean_ttft_ms": 67.4309965, "mean_tpot_ms": 8.38626263, "mean_itl_ms": 6.98855219},
        ),
        ("guidellm-v2.json", {"mean_ttft_ms": 73.6388862, "mean_tpot_ms": 9.75861081, "output_tokens": 55}),
        ("inference-perf-stage.json", {"mean_ttft_ms": 60.0, "mean_tpot_ms": 8.0, "failed": 1, "completed": 2}),
        ("aiperf-summary.json", {"mean_ttft_ms": 267.3793715, "mean_tpot_ms": None, "output_tokens": 36}),
        ("vllm-console.log", {"completed": 14, "mean_ttft_ms": 4542.80, "mean_itl_ms": 300.94, "concurrency": 2}),
        ("responses.jsonl", {"completed": 2, "input_tokens": 22, "output_tokens": 32, "mean_ttft_ms": None}),
    ],
)
def test_sample(sample: str, figures: dict[str, Any], tmp_path: Path) -> None:
    study = copy(tmp_path / "s", **{"x__" + sample.rpartition(".")[2]: sample})
    assert_agrees(figures, facts_of(study, tmp_path)["requests"], "requests")


def test_a_trace_recomputed_by_hand(tmp_path: Path) -> None:
    """Of the recorded lines: three answered in full, two stopped by the client, two refused with HTTP 400."""
    study = copy(tmp_path / "s", t__jsonl="trace.jsonl")
    got = facts_of(study, tmp_path)["requests"]
    lines = [json.loads(line) for line in (study / "t.jsonl").read_text().splitlines()]
    done = [line for line in lines if line["status"] == "ok"]
    assert (got["completed"], got["failed"], got["duration_s"]) == (len(done), 4, None)
    tpots = [(r["token_at"][-1] - r["token_at"][0]) / (r["output_tokens"] - 1) for r in done]
    assert got["mean_tpot_ms"] == pytest.approx(1000 * sum(tpots) / len(tpots), rel=1e-6)
    gaps = [b - a for r in done for a, b in zip(r["token_at"], r["token_at"][1:], strict=False)]
    assert got["mean_chunk_gap_ms"] == pytest.approx(1000 * sum(gaps) / len(gaps), rel=1e-6)
    assert got["mean_itl_ms"] is None  # one answer came with several tokens in a chunk: chunk gaps are not token gaps
    assert got["itl_is_per_chunk"] is True


def bench(**changes: Any) -> str:
    """Three requests: 250, 350 and 450 ms to the first of 3, 4 and 5 tokens, then gaps of 20, 30 and 25 ms."""
    result = {
        "date": "20261103-100000", "backend": "openai", "num_prompts": 3, "duration": 2.5, "completed": 3, "failed": 0,
        "total_input_tokens": 300, "total_output_tokens": 12, "request_throughput": 1.2, "output_throughput": 4.8,
        "input_lens": [100, 120, 80], "output_lens": [3, 4, 5], "ttfts": [0.25, 0.35, 0.45],
        "itls": [[0.02] * 2, [0.03] * 3, [0.025] * 4], "start_times": [100.0, 100.1, 100.2],
        "generated_texts": ["x", "x", "y"], "errors": ["", "", ""],
        "mean_ttft_ms": 350.0, "mean_tpot_ms": 25.0, "mean_itl_ms": 25.0,
    }  # fmt: skip
    return json.dumps(result | changes)


NO_TIME = {"mean_ttft_ms": None, "mean_tpot_ms": None, "mean_itl_ms": None}
FAILED = {
    "completed": 0, "failed": 3, "errors": ["e"] * 3, "ttfts": [0.0] * 3, "itls": [[]] * 3, "output_lens": [0] * 3,
    "mean_ttft_ms": 0.0, "mean_tpot_ms": 0.0, "mean_itl_ms": 0.0,
}  # fmt: skip
RUN, REQUEST = "vllm-bench-serve result: ", "vllm-bench-serve result, request: "


@pytest.mark.parametrize(
    ("changes", "figures", "unparsed"),
    [
        ({}, {"mean_ttft_ms": 350, "mean_tpot_ms": 25, "mean_e2e_ms": 1280 / 3}, []),
        (FAILED, {"completed": 0, "failed": 3} | NO_TIME, []),
        ({"itls": [None, [0.03] * 3, [0.025] * 4]},
         {"mean_ttft_ms": 350, "mean_tpot_ms": 27.5, "mean_e2e_ms": 495, "mean_itl_ms": 190 / 7}, []),
        ({"ttfts": [-0.25, 0.35, 0.45]}, {"mean_ttft_ms": 400, "mean_tpot_ms": 25, "mean_e2e_ms": 495, "ttft_count": 2},
         [REQUEST + "ttfts, a negative time"]),
        ({"itls": [[-0.02, 0.02], [0.03] * 3, [0.025] * 4]},
         {"mean_ttft_ms": 350, "mean_tpot_ms": 27.5, "mean_e2e_ms": 495, "mean_itl_ms": 190 / 7},
         [REQUEST + "itls, a negative time"]),
        ({"duration": -1}, {"duration_s": None, "request_throughput": None, "mean_ttft_ms": 350},
         [RUN + "duration, a negative time"]),
        ({"ttfts": [2.0, 350.0, 450.0]}, {"mean_ttft_ms": None, "mean_tpot_ms": 25, "mean_e2e_ms": None},
         [RUN + "ttfts longer than the run, of unknown unit"]),
    ],
    ids=["sound", "all failed", "gaps unknown", "negative ttft", "negative gap", "negative duration", "milliseconds"],
)  # fmt: skip
def test_times_that_cannot_be(
    changes: dict[str, Any], figures: dict[str, Any], unparsed: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "r.json").write_text(bench(**changes))
    got = facts_of(tmp_path / "s", tmp_path)["requests"]
    assert_agrees(figures, {key: got.get(key) for key in figures}, "requests")
    assert "as_stated" not in got
    with duckdb.connect(str(tmp_path / "facts.duckdb"), read_only=True) as connection:
        assert [what for (what,) in connection.sql("select what from unparsed order by all").fetchall()] == unparsed


def test_a_mean_over_no_request_is_none_in_a_summary_too(tmp_path: Path) -> None:
    gone = dict.fromkeys(("input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"))
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "r.json").write_text(bench(**FAILED | gone))
    got = facts_of(tmp_path / "s", tmp_path)["requests"]
    assert_agrees({"completed": 0, "failed": 3} | NO_TIME, got, "requests")


def test_an_engine_that_died_completed_nothing(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    dead = {"completed": 40, "duration": 6.7, "num_prompts": 40, "total_input_tokens": 900, "total_output_tokens": 0}
    (tmp_path / "s" / "r.json").write_text(json.dumps(dead | {"request_throughput": 5.94}))
    got = facts_of(tmp_path / "s", tmp_path)["requests"]
    assert (got["completed"], got["failed"]) == (0, 40)


def test_a_count_that_the_file_does_not_give_is_named(tmp_path: Path) -> None:
    got = facts_of(TESTS / "cases" / "requests-sglang-jsonl-infinity", tmp_path)["requests"]["runs"][0]
    assert got["not_stated"] == ["failed", "incomplete"]
    assert "mean_ttft_ms" in got["as_stated"]
