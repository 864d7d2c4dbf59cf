"""Queue, prefill and peaks of phases, from six pages whose counters can be added up by hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import mixed_server
from analysis.findings.phase_spans import Span
from analysis.study import Study

BEGIN = datetime(2026, 11, 29, 13, tzinfo=UTC)
# A page each ten seconds: seconds and requests of the queue, those within a second, and what waited then.
SECONDS = [0.0, 1.0, 3.0, 100.0, 104.0, 110.0]
REQUESTS = [0, 1, 2, 50, 52, 62]
WITHIN = [0, 1, 1, 40, 41, 49]
WAITING = [9, 1, 2, 7, 3, 8]


def page(k: int) -> str:
    name = "vllm:request_queue_time_seconds"
    return (
        f"# TYPE {name} histogram\n"
        f'{name}_bucket{{model_name="m",le="1.0"}} {WITHIN[k]}\n'
        f'{name}_bucket{{model_name="m",le="5.0"}} {REQUESTS[k]}\n'
        f'{name}_bucket{{model_name="m",le="+Inf"}} {REQUESTS[k]}\n'
        f'{name}_count{{model_name="m"}} {REQUESTS[k]}\n'
        f'{name}_sum{{model_name="m"}} {SECONDS[k]}\n'
        "# TYPE vllm:num_requests_waiting gauge\n"
        f'vllm:num_requests_waiting{{model_name="m"}} {WAITING[k]}\n'
    )


def span(phase: str, start_s: float, end_s: float, boot: str = "b") -> Span:
    began = BEGIN.timestamp()
    return Span(boot, phase, began + start_s, began + end_s)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    pages = tmp_path / "s" / "metrics" / "b"
    pages.mkdir(parents=True)
    for k in range(6):
        (pages / f"{BEGIN + timedelta(seconds=10 * k):%Y%m%dT%H%M%SZ}.prom").write_text(page(k))
    (tmp_path / "s" / "boots").mkdir()
    (tmp_path / "s" / "boots" / "b.log").write_text(
        "INFO 01-01 00:00:01 [api_server.py:1] vLLM API server version 0.9.2\nINFO:     Application startup complete.\n"
    )
    return Study(tmp_path / "s")


def test_an_interval_counts_for_the_only_phase_that_it_touches(study: Study) -> None:
    """The third interval, from 20 s to 30 s, touches both phases: its 97 s and 48 requests are in neither."""
    found = mixed_server.phases(study.connection, [span("one", 2, 22), span("two", 28, 50)])
    by_name = {(e.id, e.qualifiers["phase"], e.qualifiers["quantile"]): e for e in found}
    one, two = (by_name["mixed.queue", phase, "mean"] for phase in ("one", "two"))
    assert (one.value, one.n) == (3 / 2, 2)
    assert (two.value, two.n) == (10 / 12, 12)
    assert [Path(e.file).name for e in one.evidence] == ["20261129T130010Z.prom", "20261129T130020Z.prom"]
    assert [Path(e.file).name for e in two.evidence] == ["20261129T130040Z.prom", "20261129T130050Z.prom"]
    # Of twelve, nine took up to a second and three up to five: buckets hold no value for a point.
    median = by_name["mixed.queue", "two", "p50"]
    assert (median.n, median.value, median.low, median.high) == (12, None, 0.0, 5.0)  # of the 3rd and the 10th
    missing = by_name["mixed.prefill", "one", "mean"]
    assert missing.reason == (
        "not computable: no scrape interval of the phase in which a request finished with prefill_time"
    )


def test_a_phase_inside_another_and_one_of_a_boot_that_is_not_there_have_nothing(study: Study) -> None:
    found = mixed_server.phases(
        study.connection, [span("all", 0, 50), span("inside", 12, 18), span("one", 0, 50, boot="c")]
    )
    means = {(e.qualifiers["boot"], e.qualifiers["phase"]): e.value for e in found if e.id == "mixed.queue"
             and e.qualifiers["quantile"] == "mean"}  # fmt: skip
    assert means == {("b", "all"): (110 - 2) / (62 - 1), ("b", "inside"): None, ("c", "one"): None}
    assert mixed_server.phases(study.connection, []) == []


def test_the_peak_is_that_of_the_scrapes_within_one_phase(study: Study) -> None:
    peaks = mixed_server.peaks(study.connection, [span("one", 2, 22), span("two", 28, 50), span("late", 60, 70)])
    assert [(e.id, e.qualifiers["phase"], e.qualifiers["state"], e.value, e.n) for e in peaks] == [
        ("mixed.requests_peak", "one", "waiting", 2.0, 2), ("mixed.requests_peak", "two", "waiting", 7.0, 2),
    ]  # fmt: skip
    assert mixed_server.peaks(study.connection, []) == []
