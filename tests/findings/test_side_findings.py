"""Preemptions and the queue, on pages whose counts are known."""

from pathlib import Path

import pytest
from scipy import stats

from analysis import paths
from analysis.estimates import cells
from analysis.findings import side_findings, time_split
from analysis.study import Study

PAGE = """\
process_start_time_seconds 1
vllm:num_preemptions_total{{engine="0",model_name="m"}} {preempted}
vllm:request_prefill_time_seconds_sum{{engine="0",model_name="m"}} {n}
vllm:request_prefill_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:request_inference_time_seconds_sum{{engine="0",model_name="m"}} {inference}
vllm:request_inference_time_seconds_count{{engine="0",model_name="m"}} {n}
vllm:request_queue_time_seconds_sum{{engine="0",model_name="m"}} {queue}
vllm:request_queue_time_seconds_count{{engine="0",model_name="m"}} {n}
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def pages(rows: list[tuple[float, float, float, float]]) -> tuple[Study, time_split.Run]:
        folder = tmp_path / "s" / "metrics" / "a"
        folder.mkdir(parents=True)
        for minute, (preempted, n, inference, queue) in enumerate(rows):
            text = PAGE.format(preempted=preempted, n=n, inference=inference, queue=queue)
            (folder / f"20260101T00{minute:02}00Z.prom").write_text(text)
        study = Study(tmp_path / "s")
        [run] = time_split.runs(study.connection)
        return study, run

    return pages


def test_none_of_n_is_at_most_something(make) -> None:  # noqa: ANN001
    study, run = make([(0, 0, 0, 0), (0, 40, 80, 20)])
    got = side_findings.preemptions(study.connection, run)
    assert (got.id, got.value, got.low) == ("preemptions.per_request", 0.0, 0.0)
    assert got.high == pytest.approx(stats.beta.ppf(0.95, 1, 40))
    queue = side_findings.queue_share(study.connection, run)
    assert queue.value == pytest.approx(0.2)
    assert queue.low is None and queue.reason


def test_preemptions_come_in_bursts_and_scrapes_are_the_units(make) -> None:  # noqa: ANN001
    burst = [0, 0, 4, 9, 9, 9, 15, 15, 16, 16, 16, 20, 20]
    study, run = make([(float(p), 10.0 * i, 30.0 * i, 2.0 * i + (i % 3)) for i, p in enumerate(burst)])
    got = side_findings.preemptions(study.connection, run)
    assert got.value == pytest.approx(20 / 120)
    assert got.low is not None and got.low < got.value < (got.high or 0)
    assert got.unit == "1"
    assert side_findings.queue_share(study.connection, run).low is not None
    table, shown = cells.split(side_findings.table([got, side_findings.queue_share(study.connection, run)]))
    assert [cell.estimate.id for cell in shown[0].values()] == [side_findings.PREEMPTIONS, side_findings.QUEUE]
    assert table.columns == ["run", "preemptions per request", "share of time in the queue"]
    assert table.height == 1


def test_what_is_missing_is_named() -> None:
    study = Study("llamacpp")
    run = time_split.Run("a", "a", {}, {})
    assert (side_findings.preemptions(study.connection, run).reason or "").startswith("not computable: it takes")
    assert "do not export queue_time and inference_time" in (
        side_findings.queue_share(study.connection, run).reason or ""
    )
