"""Queue wait and prefill by phase, from the engine's own histograms, which do not know classes."""

from dataclasses import replace
from math import inf

import duckdb
import polars as pl

from analysis.estimates import quantile_buckets
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.findings.mixed_traffic import FINDING
from analysis.findings.phase_spans import Span, phase_of

CONCEPTS = {"mixed.queue": "queue_time", "mixed.prefill": "prefill_time"}
CLASSLESS = "of all requests that finished in the phase: the engine does not know classes"
WINDOWS = """
    select run as boot, file, start_s, end_s, concept, statistic, le, increase from run_windows
    where boot in $boots and concept in ('queue_time', 'prefill_time') and start_s < $last_s and end_s > $first_s
    order by all
"""
GAUGES = """
    select boot_pages.boot, page_order.scraped_at_s as at_s, concept, max(value) as value
    from concept_gauges join boot_pages using (page) join page_order using (page)
    where concept in ('waiting_requests', 'running_requests', 'kv_cache_usage') and boot_pages.boot in $boots
        and page_order.scraped_at_s between $first_s and $last_s
    group by all order by all
"""
PEAKS = {
    "waiting_requests": ("mixed.requests_peak", {"state": "waiting"}),
    "running_requests": ("mixed.requests_peak", {"state": "running"}),
    "kv_cache_usage": ("mixed.kv_cache_peak", {}),
}
"""Gauges by concept: the results id of their peak, and its qualifiers."""


def phases(connection: duckdb.DuckDBPyConnection, found: list[Span]) -> list[Estimate]:
    """mixed.queue and mixed.prefill of each phase: the mean (exact for its requests), p50 and p95 from buckets."""
    table = _within(connection, WINDOWS, found)
    parts = _by_phase(table, phase_of(found, pl.col("start_s"), pl.col("end_s")))
    estimates = []
    for span in found:
        part = parts.get((span.boot, span.phase), table.clear())
        for id, concept in CONCEPTS.items():
            mine = part.filter(concept=concept)
            names = {"boot": span.boot, "phase": span.phase}
            files = tuple(Evidence(f) for f in mine["file"].unique(maintain_order=True)[:12])
            for statistic, estimate in _of_concept(mine, concept):
                said = replace(estimate, assumption=CLASSLESS).with_evidence(*files)
                estimates.append(said.named(id, FINDING, **names, quantile=statistic))
    return estimates


def _within(connection: duckdb.DuckDBPyConnection, query: str, found: list[Span]) -> pl.DataFrame:
    """The rows of boots that have phases, from the first beginning to the last end; no other lies in a phase."""
    given = {
        "boots": sorted({span.boot for span in found}),
        "first_s": min((span.start_s for span in found), default=0.0),
        "last_s": max((span.end_s for span in found), default=0.0),
    }
    return connection.sql(query, params=given).pl()


def _by_phase(table: pl.DataFrame, phase: pl.Expr) -> dict[tuple[object, ...], pl.DataFrame]:
    """The rows that lie in one phase, by boot and phase."""
    inside = table.lazy().with_columns(phase=phase).filter(pl.col("phase").is_not_null()).collect()
    return inside.partition_by("boot", "phase", as_dict=True)


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
    edges = mine.filter(statistic="bucket").group_by("le").agg(pl.col("increase").sum()).sort("le")
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
    part = mine.filter(statistic=statistic)["increase"].drop_nulls()
    return float(part.sum()) if part.len() else None


def peaks(connection: duckdb.DuckDBPyConnection, found: list[Span]) -> list[Estimate]:
    """mixed.requests_peak (waiting, running) and mixed.kv_cache_peak of each phase: the highest that a scrape saw."""
    table = _within(connection, GAUGES, found)
    parts = _by_phase(table, phase_of(found, pl.col("at_s"), pl.col("at_s")))
    estimates = []
    for span in found:
        part = parts.get((span.boot, span.phase), table.clear())
        for concept, (id, more) in PEAKS.items():
            mine = part.filter(concept=concept)["value"].drop_nulls()
            if not mine.len():
                continue
            peak = Estimate(
                float(mine.to_numpy().max()), "1", "census", "highest of the scrapes", n=mine.len(), n_of="scrapes",
                reason="census: between two scrapes it may have been higher",
            )  # fmt: skip
            estimates.append(peak.named(id, FINDING, boot=span.boot, phase=span.phase, **more))
    return estimates
