"""Queue wait and prefill by phase, from the engine's own histograms, which do not know classes."""

from dataclasses import asdict, replace
from math import inf
from pathlib import Path

import duckdb
import polars as pl

from analysis.estimates import quantile_buckets
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.findings.mixed_traffic import FINDING
from analysis.findings.phase_spans import Span

CONCEPTS = {"mixed.queue": "queue_time", "mixed.prefill": "prefill_time"}
CLASSLESS = "of all requests that finished in the phase: the engine does not know classes"
WINDOWS = Path(__file__).with_suffix(".sql")
GAUGES = """
    with spans as (
        select span.boot, span.phase, span.start_s, span.end_s from (select unnest($spans) as span)
    ),

    inside as (
        select pages.page, any_value(pages.scraped_at_s) as at_s, any_value(spans.boot) as boot,
            any_value(spans.phase) as phase
        from page_order as pages
        join boot_pages on pages.page = boot_pages.page
        join spans on boot_pages.boot = spans.boot
            and pages.scraped_at_s > spans.start_s and pages.scraped_at_s < spans.end_s
        group by pages.page having count(*) = 1
    )

    select inside.boot, inside.phase, concept, max(value)::double as peak, count(distinct inside.at_s) as scrapes
    from concept_gauges join inside on concept_gauges.page = inside.page
    where list_contains($concepts, concept) group by all
"""
PEAKS = {
    "waiting_requests": ("mixed.requests_peak", {"state": "waiting"}),
    "running_requests": ("mixed.requests_peak", {"state": "running"}),
    "kv_cache_usage": ("mixed.kv_cache_peak", {}),
}
"""Gauges by concept: the results id of their peak, and its qualifiers."""


def phases(connection: duckdb.DuckDBPyConnection, found: list[Span]) -> list[Estimate]:
    """mixed.queue and mixed.prefill of each phase: the mean (exact for its requests), p50 and p95 from buckets."""
    table = _asked(connection, WINDOWS.read_text(encoding="utf-8"), found, list(CONCEPTS.values()))
    estimates = []
    for span in found:
        for id, concept in CONCEPTS.items():
            mine = table.filter(boot=span.boot, phase=span.phase, concept=concept)
            files = [Evidence(file) for file in mine["files"][0]] if mine.height else []
            for statistic, estimate in _of_concept(mine, concept):
                said = replace(estimate, assumption=CLASSLESS).with_evidence(*files)
                names = {"boot": span.boot, "phase": span.phase, "quantile": statistic}
                estimates.append(said.named(id, FINDING, **names))
    return estimates


def _asked(
    connection: duckdb.DuckDBPyConnection, query: str, found: list[Span], concepts: list[str]
) -> pl.DataFrame:  # fmt: skip
    """Rows for phases: an interval or a moment counts where it touches one phase only."""
    return connection.sql(query, params={"spans": [asdict(span) for span in found], "concepts": concepts}).pl()


def _of_concept(mine: pl.DataFrame, concept: str) -> list[tuple[str, Estimate]]:
    total = _sum(mine, "sum")
    count = _sum(mine, "count")
    if total is None or not count:
        why = f"no scrape interval of the phase in which a request finished with {concept}"
        return [("mean", not_computable("s", why))]
    mean = no_interval(
        total / count, "s", "increase of the sum over that of the count", "requests of one phase wait together",
        n=round(count), n_of="requests",
    )  # fmt: skip
    edges = mine.filter(statistic="bucket")
    if edges.height < 2:
        return [("mean", mean)]
    buckets = Buckets.from_cumulative(edges["le"].to_numpy(), edges["increase"].to_numpy(), total)
    return [("mean", mean), *((f"p{100 * q:g}", _quantile(buckets, q)) for q in (0.5, 0.95))]


def _quantile(buckets: Buckets, q: float) -> Estimate:
    found = quantile_buckets.quantile(buckets, q, "s")
    if found.low == 0 and found.high == inf:  # from nothing to everything is no answer
        return no_interval(None, "s", found.method, "; ".join(found.warnings), n=found.n, n_of=found.n_of)
    return found


def _sum(mine: pl.DataFrame, statistic: str) -> float | None:
    part = mine.filter(statistic=statistic)["increase"]
    return float(part[0]) if part.len() else None


def peaks(connection: duckdb.DuckDBPyConnection, found: list[Span]) -> list[Estimate]:
    """mixed.requests_peak (waiting, running) and mixed.kv_cache_peak of each phase: the highest that a scrape saw."""
    table = _asked(connection, GAUGES, found, list(PEAKS))
    estimates = []
    for span in found:
        for concept, (id, more) in PEAKS.items():
            mine = table.filter(boot=span.boot, phase=span.phase, concept=concept)
            for value, scrapes in mine.select("peak", "scrapes").iter_rows():
                peak = Estimate(
                    value, "1", "census", "highest of the scrapes", n=scrapes, n_of="scrapes",
                    reason="census: between two scrapes it may have been higher",
                )  # fmt: skip
                estimates.append(peak.named(id, FINDING, boot=span.boot, phase=span.phase, **more))
    return estimates
