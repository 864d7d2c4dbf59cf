"""Engines that count the seconds of passes by kind, and what counters alone allow, on pages made by hand."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.estimates import cells
from analysis.findings import step_range, step_time, time_split
from analysis.study import Study

SGLANG = """\
sglang:gpu_execution_seconds_total{{category="extend",model_name="m"}} {prefill}
sglang:gpu_execution_seconds_total{{category="decode",model_name="m"}} {decode}
sglang:gpu_execution_seconds_total{{category="mixed",model_name="m"}} {mixed}
sglang:num_running_reqs{{model_name="m"}} 1
"""
VLLM = """\
process_start_time_seconds 1
vllm:request_prefill_time_seconds_sum{{engine="0",model_name="m"}} {prefill}
vllm:request_prefill_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:request_decode_time_seconds_sum{{engine="0",model_name="m"}} {decode}
vllm:request_decode_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:num_requests_running{{engine="0",model_name="m"}} {running}
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def pages(template: str, rows: list[dict[str, float]]) -> Study:
        folder = tmp_path / "s" / "metrics" / "a"
        folder.mkdir(parents=True)
        for minute, row in enumerate(rows):
            (folder / f"20260101T00{minute:02}00Z.prom").write_text(template.format(**row, n=minute))
        return Study(tmp_path / "s")

    return pages


def test_seconds_by_kind_give_the_share_over_the_scrapes(make) -> None:  # noqa: ANN001
    wave = [3, 5, 2, 6, 4, 3, 5, 4, 6, 2, 3, 5]
    rows = [{"prefill": float(sum(wave[:i])), "decode": 10.0 * i, "mixed": 0} for i in range(13)]
    study = make(SGLANG, rows)
    runs = time_split.runs(study.connection)
    share, span = step_range.by_category(study.connection, runs)
    assert (share.id, share.value) == (step_time.SHARE, pytest.approx(48 / 168))
    assert share.low is not None and share.low < share.value < (share.high or 0)
    assert (span.id, span.kind, span.low, span.high) == (step_time.RANGE, "identity", pytest.approx(48 / 168),
                                                         pytest.approx(48 / 168))  # fmt: skip
    both = step_range.logged_or_counted(study.connection, runs)
    assert [e.id for e in both] == [step_time.SHARE, step_time.RANGE]


def test_mixed_passes_leave_a_bound_and_no_point(make) -> None:  # noqa: ANN001
    study = make(SGLANG, [{"prefill": 10.0 * i, "decode": 60.0 * i, "mixed": 30.0 * i} for i in range(3)])
    share, span = step_range.by_category(study.connection, time_split.runs(study.connection))
    assert (share.value, share.reason) == (None, "mixed passes do both at once: see the range")
    assert (span.kind, span.low, span.high) == ("bound", pytest.approx(0.1), pytest.approx(0.4))


def test_counters_allow_at_most_what_requests_spent_in_prefill(make) -> None:  # noqa: ANN001
    study = make(VLLM, [{"prefill": 10.0 * i, "decode": 70.0 * i, "running": 2 * (i % 2)} for i in range(4)])
    [found] = step_range.from_counters(study.connection, time_split.runs(study.connection))
    assert (found.low, found.high) == (0.0, pytest.approx(30 / (240 / 2)))
    table, shown = cells.split(step_range.table([found], [], []))
    assert {column: cell.estimate for column, cell in shown[0].items()} == {"counters allow": found}
    assert table.row(0) == ("metrics/a", "between 0 and 25 %", "no traces", "", "no steps logged")


def test_without_a_running_request_on_any_page_nothing_is_claimed(make) -> None:  # noqa: ANN001
    study = make(VLLM, [{"prefill": 10.0 * i, "decode": 70.0 * i, "running": 0} for i in range(4)])
    [found] = step_range.from_counters(study.connection, time_split.runs(study.connection))
    assert found.low is None
    assert (found.reason or "").startswith("not computable: no page shows a running request")
    assert step_range.table([found], [], []).height == 0


def test_engines_without_phases_are_named() -> None:
    run = time_split.Run("a", "a", {}, {})
    study = Study("llamacpp")
    [found] = step_range.from_counters(study.connection, [run])
    assert found.reason == "not computable: the pages do not export prefill_time and decode_time"
