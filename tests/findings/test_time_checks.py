"""Counts held against counts, and phases against end-to-end time."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import time_checks
from analysis.findings.time_split import Run
from analysis.study import Study

SUMS = {"e2e_time": 10.0, "queue_time": 1.0, "prefill_time": 2.0, "decode_time": 6.5}
COUNTS = {("e2e_time", "count", None): 4.0, ("prefill_time", "count", None): 4.0}
TOTALS = {(name, "sum", None): value for name, value in SUMS.items()} | COUNTS


def _run(**more: float) -> Run:
    totals = {**TOTALS, **{(name, "sum", None): value for name, value in more.items()}}
    return Run("b", "b", totals, {})


def test_what_the_phases_leave_of_end_to_end_time() -> None:
    found = time_checks.residual(_run())
    assert (found.value, found.kind, found.qualifiers) == (pytest.approx(0.05), "identity", {"boot": "b"})
    over = time_checks.residual(_run(decode_time=8.0))
    assert over.value == pytest.approx(-0.1)
    assert over.warnings == ("negative beyond 0.1 %: clocks disagree, or the sums are of different requests",)
    table = time_checks.residual_table([found, over])
    assert table["unexplained"].to_list() == ["5.00 %", "−10.0 %"]


def test_a_phase_that_is_not_exported_is_named_and_different_requests_are_not_compared() -> None:
    totals = {key: value for key, value in TOTALS.items() if key[0] != "queue_time"}
    assert (
        time_checks.residual(Run("b", "b", totals, {})).reason == "not computable: the pages do not export queue_time"
    )
    uneven = Run("b", "b", {**TOTALS, ("e2e_time", "count", None): 5.0}, {})
    assert time_checks.residual(uneven).reason == "the sums count different requests: 5 and 4"


def test_counts_against_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    study = Study(Path(__file__).parents[1] / "samples" / "steps")
    totals = {
        **TOTALS,
        ("finished_requests", "value", "stop"): 3.0, ("finished_requests", "value", "abort"): 2.0,
        ("request_prompt_tokens", "sum", None): 90.0, ("prompt_tokens", "value", None): 90.0,
    }  # fmt: skip
    table = time_checks.reconciliation(study.connection, [Run("b", "b", totals, {})])
    assert table["against"].to_list() == ["finish reasons", "prompt tokens"]
    assert table["difference"].to_list() == [1, 0]
    assert table["possible causes"].to_list() == [time_checks.CAUSES["finish reasons"], "agree"]
    sent = time_checks.reconciliation(study.connection, [Run("T512", "T512", TOTALS, {})])
    assert sent.row(0)[:5] == ("T512", "clients' requests", 4, 41, 37)
