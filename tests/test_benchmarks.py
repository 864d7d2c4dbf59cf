"""What the benchmarks say of themselves: the fit, the page, and when a ratio became worse. Nothing is timed here."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import redact
from analysis.sources import registry
from analysis.sources.files import SourceFile
from analysis.store.load import load
from benchmarks import bench, busy, generate, profiles


def row(ratio: float, low: float, high: float) -> dict[str, Any]:
    return {"what": "a page", "unit": "samples", "peer": "p", "amount": 10, "rate": 2.5e6, "ratio": ratio, "low": low,
            "high": high, "goal": 20.0, "rate_goal": None}  # fmt: skip


def test_the_exponent_is_that_of_the_growth() -> None:
    linear = [(n, 0.0, n / 1e6, 0.0) for n in (10**5, 10**6, 10**7)]
    square = [(n, 0.0, n * n / 1e9, 0.0) for n in (10**5, 10**6, 10**7)]
    assert bench.exponent(linear) == pytest.approx(1.0)
    assert bench.exponent(square) == pytest.approx(2.0)


def test_a_ratio_is_worse_when_it_fell_beyond_its_spread() -> None:
    before = {"pairs": [row(25, 24, 26)]}
    assert bench.regressions({"pairs": [row(24, 20, 26)]}, before) == []
    assert bench.regressions({"pairs": [row(18, 16, 25)]}, before) == []
    assert bench.regressions({"pairs": [row(18, 17, 19)]}, before) == ["a page beside p: 18 times, was 25"]
    assert bench.regressions({"pairs": [row(18, 17, 19)]}, None) == []


def test_the_page_has_every_pair_with_its_spread_and_goal() -> None:
    result = {
        "machine": {"at": "now", "commit": "c", "cpu": "x", "cores": 2, "memory_gib": 8, "python": "3.11", "load": 0.1},
        "pairs": [row(25, 24, 26), row(40, 30, 50) | {"peer": "prometheus_client"}],
        "profiles": {"a page": [("layout.read", 0.214), ("words.plain", 0.158)]},
        "growth": [(10**5, 12.0, 0.1, 200.0), (10**6, 120.0, 1.0, 300.0)],
        "report": {"first report": [20.0, 24.0, 21.0], "empty notebooks": [10.0, 10.0, 12.0]},
        "days": [
            {"what": "pages", "made": {"samples": 30_000_000, "steps": 7}, "mb": 3700.2, "seconds": 99.4,
             "memory": 1234.5},
        ],
    }  # fmt: skip
    text = bench.page(result)
    assert "| a page | 2,500,000 samples | p | 25 (24 to 26) | 20 times |" in text
    assert "where prometheus_client reads 60,000 samples a CPU second" in text
    assert "in this run, on the large page, it read 62,500." in text  # 2,500,000 / 40
    assert "to the power of 1.00" in text
    assert "| a page | `layout.read` 21%, `words.plain` 16% |" in text
    assert "| first report | 21 (20 to 24) | 2 (1.75 to 2.4) |" in text
    assert "| pages | 30,000,000 samples, 7 steps | 3,700 | 99 | 1,234 |" in text


def test_made_pages_are_pages_whose_counters_rise() -> None:
    first, second = generate.page_at(1), generate.page_at(2)
    samples = [line.rpartition(" ") for line in first.splitlines() if not line.startswith("#")]
    later = [line.rpartition(" ") for line in second.splitlines() if not line.startswith("#")]
    assert len(samples) == generate.SAMPLES
    assert [name for name, _, _ in samples] == [name for name, _, _ in later]
    totals = [(float(a), float(b)) for (name, _, a), (_, _, b) in zip(samples, later, strict=True) if "_bucket" in name]
    assert all(a <= b for a, b in totals) and any(a < b for a, b in totals)


@pytest.mark.parametrize(
    ("pieces", "format_", "table", "rows"),
    [
        (generate.long_log, "engine log", "boots", 1),
        (generate.mixed_log, "engine log", "boots", 1),
        (generate.long_requests, "request-trace", "requests", 600),
        (generate.long_guidellm, "guidellm", "requests", 200),
        (generate.tiny_vllm, "vllm-bench-serve", "requests", 5_000),
        (generate.long_llmperf, "llmperf-individual", "requests", 4_000),
        (generate.long_inference_perf, "inference-perf-per-request", "requests", 1_000),
    ],
)
def test_made_files_are_read_whole(
    tmp_path: Path, pieces: Callable[[int], Iterator[str]], format_: str, table: str, rows: int
) -> None:
    path = tmp_path / "made"
    path.write_text("".join(pieces(1)))
    file = SourceFile("made", path, path.stat().st_size, 0.0)
    reader = registry.reader_of(file)
    assert reader is not None
    reading = reader.read(file)
    assert (reading.format, reading.unparsed, reading.message) == (format_, [], None)
    assert len(reading.tables[table]) >= rows
    assert file.size > 900_000


def test_a_profile_names_the_function_of_ours_that_the_time_passed_in() -> None:
    text = "x" * 20_000

    def run() -> None:
        for _ in range(200):
            redact.cut(text, 400)
            sum(range(20_000))

    spots = profiles.hot_spots(run)
    assert sum(share for _, share in spots) == pytest.approx(1.0)
    assert {name for name, _ in spots} <= {"elsewhere", "redact.cut", *(n for n, _ in spots if n.startswith("redact"))}
    assert dict(spots)["elsewhere"] > 0.3


def test_a_made_day_has_its_steps_and_requests_at_moments_that_follow_each_other(tmp_path: Path) -> None:
    made = busy.study(tmp_path / "made", 1, 2 * busy.ROUND, 2)
    assert made == {"samples": 2 * generate.SAMPLES, "steps": 2 * 982, "requests": 2 * 41}
    load(tmp_path / "made", tmp_path / "made.duckdb")
    with duckdb.connect(str(tmp_path / "made.duckdb"), read_only=True) as connection:
        assert connection.sql("select distinct status from files").fetchall() == [("read",)]
        order = "select iteration, logged_at_text from engine_steps order by line"
        steps, at = zip(*connection.sql(order).fetchall(), strict=True)
        assert list(steps) == list(range(made["steps"]))
        assert list(at) == sorted(at)
        spans = "select count(*), max(sent_at_s) - min(sent_at_s) from requests"
        count, span = connection.sql(spans).fetchall()[0]
        assert count == made["requests"]
        assert busy.ROUND.total_seconds() < span < 2 * busy.ROUND.total_seconds()
