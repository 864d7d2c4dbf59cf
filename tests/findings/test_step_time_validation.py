"""docs/step-time-validation.md is what the data say, and the ranges hold what the step log says."""

import gzip
import json
from pathlib import Path

import pytest
from validation_table import BEGIN, END, RANGE, STUDY, Row, rows, table

from analysis import paths
from analysis.study import Study

TEXT = (paths.ROOT / "docs" / "step-time-validation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    before, paths.STORES = paths.STORES, tmp_path_factory.mktemp("stores")
    try:
        return rows(Study(STUDY))
    finally:
        paths.STORES = before


def test_the_published_table_is_recomputed(found: list[Row]) -> None:
    assert TEXT.split(BEGIN)[1].split(END)[0].strip() == table(found), "run make validation"


def test_every_range_holds_what_the_log_says(found: list[Row]) -> None:
    ranges = [row for row in found if row.span == RANGE]
    assert {row.source for row in ranges} == {"counters alone", "clients' clocks"}
    assert len(ranges) == 6
    assert [row for row in ranges if not row.holds] == []


def test_clients_clocks_are_within_a_few_points_and_request_seconds_are_not(found: list[Row]) -> None:
    errors = {row.source: [r.error or 0.0 for r in found if r.source == row.source] for row in found}
    assert max(abs(e) for e in errors["clients' clocks"]) < 2.5
    assert max(errors["*request-seconds, taken for it*"]) < -20


def test_the_counters_range_is_what_the_raw_page_gives(found: list[Row]) -> None:
    """From the last page of the boot itself: its sums, its gaps' median bucket, and the most that ran on any page."""
    [row] = [r for r in found if r.boot == "T512" and r.source == "counters alone" and r.estimate.value is None]
    pages = sorted((paths.DATA / STUDY / "metrics" / "T512").glob("*.prom.gz"))

    def values(page: Path) -> dict[str, float]:
        lines = gzip.decompress(page.read_bytes()).decode().splitlines()
        return {k: float(v) for k, _, v in (x.rpartition(" ") for x in lines if x and x[0] != "#")}

    of = '{engine="0",model_name="gemma3-270m"}'
    first, last = values(pages[0]), values(pages[-1])
    at_once = max(values(page)[f"vllm:num_requests_running{of}"] for page in pages)

    def rose(name: str) -> float:
        return last[f"vllm:{name}{of}"] - first[f"vllm:{name}{of}"]

    prefill, decode = rose("request_prefill_time_seconds_sum"), rose("request_decode_time_seconds_sum")
    busy = (prefill + decode) / at_once
    assert at_once == 4
    assert row.estimate.high == pytest.approx(prefill / busy)
    assert row.estimate.low == pytest.approx(1 - rose("iteration_tokens_total_count") * 0.2 / busy)


def test_what_prefill_holds_is_what_the_raw_trace_gives(found: list[Row]) -> None:
    """Own waits, plus what each gap beside a prompt exceeds the median gap at as many streams; in plain Python."""
    [row] = [r for r in found if r.boot == "T512" and "held" in r.figure and r.source == "clients' clocks"]
    lines = (paths.DATA / STUDY / "requests" / "T512" / "trace.jsonl").read_text().splitlines()
    requests = [r for r in map(json.loads, lines) if r["token_at"]]
    waits = [(r["sent_at"], r["first_token_at"]) for r in requests]
    streams = [(r["first_token_at"], r["finished_at"]) for r in requests]
    gaps = [pair for r in requests for pair in zip(r["token_at"], r["token_at"][1:], strict=False)]
    seconds: dict[int, list[float]] = {}
    beside: list[tuple[int, float]] = []
    for a, b in gaps:
        middle = (a + b) / 2
        n = sum(x <= middle < y for x, y in streams)
        if any(x < b and a < y for x, y in waits):
            beside.append((n, b - a))
        elif b > a:
            seconds.setdefault(n, []).append(b - a)
    usual = {n: sorted(each)[len(each) // 2] for n, each in seconds.items()}
    nearest = {n: usual[min(usual, key=lambda m: abs(m - n))] for n, _ in beside}
    own = sum(b - a for a, b in waits)
    others = sum(max(gap - nearest[n], 0) for n, gap in beside)
    assert row.estimate.value == pytest.approx((own + others) / (own + sum(b - a for a, b in gaps)), abs=0.01)
