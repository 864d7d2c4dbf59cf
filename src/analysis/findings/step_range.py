"""Step time without a step log: what the counters of a run allow, and engines that export time by kind of pass.

Counters say how long requests were in each phase, never what was in one step: they give a range. An engine that counts
the seconds of its passes by kind gives the share itself, as far as no pass is mixed.
"""

from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.counter_step_time import step_share_from_counters
from analysis.estimates.estimate import Estimate, not_computable
from analysis.estimates.quantile_buckets import quantile
from analysis.estimates.ratio_scrapes import share_from_scrapes
from analysis.estimates.rounding import show, show_value
from analysis.findings import integrity
from analysis.findings.step_time import RANGE, SHARE, prefill_shares
from analysis.findings.time_split import FINDING, Run, phases_left_out, scrape_windows
from analysis.findings.time_tables import run_of

FROM_COUNTERS = "time.prefill_share.step_time_from_counters"
CATEGORIES = ("batch_prefill_time", "batch_decode_time", "batch_mixed_time")
"""Concepts of engines that count the seconds of their passes by kind: SGLang, TGI."""
MOST_AT_ONCE = """
select max(requests) from (
    select sum(value) as requests
    from concept_gauges join boot_pages using (page)
    where concept = 'running_requests' and coalesce(boot_pages.boot, boot_pages.target) = $run
    group by page
)
"""


def from_counters(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time_from_counters of each run: a range without a confidence, or what is missing."""
    broken = integrity.broken_runs(connection)
    found = []
    for run in runs:
        estimate = _range(connection, run) if run.name not in broken else not_computable(
            "1", f"the pages contradict themselves: {broken[run.name]}"
        )  # fmt: skip
        cited = ("prefill_time", "decode_time", "iteration_tokens", "inter_token_latency")
        lines = (e for concept in cited for e in run.evidence.get(concept, ()))
        found.append(estimate.with_evidence(*lines).named(FROM_COUNTERS, FINDING, **run.qualifiers))
    return found


def _range(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    prefill_s, decode_s = run.seconds("prefill_time"), run.seconds("decode_time")
    if prefill_s is None or decode_s is None:
        missing = [c for c in ("prefill_time", "decode_time") if run.seconds(c) is None]
        return not_computable("1", run.why_missing(*missing))
    rows = connection.sql(MOST_AT_ONCE, params={"run": run.name}).fetchall()
    at_once, engine_s = (rows[0][0] or 0.0) if rows else 0.0, run.total("step_time")
    if not at_once and not engine_s:
        return not_computable("1", "no page shows a running request, so nobody knows how many there were at once")
    gaps = run.buckets.get("inter_token_latency")
    slowest = None if gaps is None else quantile(gaps, 0.5, "s").high
    found = step_share_from_counters(
        prefill_s, decode_s, at_once, run.total("iteration_tokens", "count"), slowest, engine_s
    )
    return found.with_warnings(*phases_left_out(run))


def logged_or_counted(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time and its range: from the step log, else from seconds by kind."""
    counted = by_category(connection, runs)
    have = {run_of(e) for e in counted}
    logged = prefill_shares(connection, runs)
    with_log = {run_of(e) for e in logged if e.value is not None or e.id == RANGE}
    return [
        *(e for e in logged if run_of(e) in with_log or run_of(e) not in have),
        *(e for e in counted if run_of(e) not in with_log),
    ]


def by_category(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time and its range for engines that count the seconds of passes by kind."""
    found = []
    for run in runs:
        prefill, decode, mixed = (run.seconds(concept) for concept in CATEGORIES)
        total = sum(seconds or 0 for seconds in (prefill, decode, mixed))
        if prefill is None or decode is None or not total > 0:
            continue
        lines = [e for concept in CATEGORIES for e in run.evidence.get(concept, ())]
        low, high = prefill / total, (prefill + (mixed or 0)) / total
        span = Estimate(
            low if low == high else None, "1", "identity" if low == high else "bound",
            "prefill passes .. prefill and mixed passes", low, high, assumption="the engine's own seconds",
            reason="no point: mixed passes do both at once",
        )  # fmt: skip
        if mixed:
            share = replace(span, kind="estimate", value=None, low=None, high=None,
                            reason="mixed passes do both at once: see the range")  # fmt: skip
        else:
            share = share_from_scrapes(scrape_windows(connection, run, *CATEGORIES[:2]))
            share = replace(share, picked="counters: the engine's seconds by kind of pass")
            if share.value is None:
                share = replace(share, value=low)
        found += [
            e.with_evidence(*lines).named(id, FINDING, **run.qualifiers) for id, e in ((SHARE, share), (RANGE, span))
        ]
    return found


def table(counted: list[Estimate], traced: list[Estimate], logged: list[Estimate]) -> pl.DataFrame:
    """One row a run: the range that counters allow, what clients' clocks say, and what the step log says."""
    by_trace = {run_of(e): e for e in traced}
    by_log = {run_of(e): e for e in logged if e.id == SHARE and e.value is not None}
    rows = []
    for e in counted:
        run = run_of(e)
        trace, log = by_trace.get(run), by_log.get(run)
        if e.low is None and trace is None and log is None:
            continue
        rows.append((
            run, Shown(e, _span(e)), *_trace(trace), "no steps logged" if log is None else log,
        ))  # fmt: skip
    schema = dict.fromkeys(("run", "counters allow", "by clients' clocks", "their range", "by the step log"), pl.String)
    return cells.frame(rows, schema)


def _trace(e: Estimate | None) -> tuple[str | Estimate | Shown, str | Shown]:
    if e is None:
        return "no traces", ""
    if e.value is None:
        return e, ""
    return Shown(e, show_value(e), "value"), Shown(e, _span(e), "end")


def _span(e: Estimate) -> str:
    return show(replace(e, value=None, reason=e.reason or "a range"))
