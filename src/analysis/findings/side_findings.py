"""What else the counters of a run say: how often requests were put back, and how long they waited before they ran."""

from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates import cells, choose
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.prefill_rate import prefill_rate
from analysis.estimates.ratio_page import share_of_sums
from analysis.estimates.ratio_scrapes import Windows
from analysis.estimates.share_edge import share
from analysis.findings import integrity
from analysis.findings.time_split import FINDING, Run, scrape_windows
from analysis.findings.time_tables import run_of

PREEMPTIONS, QUEUE = "preemptions.per_request", "time.queue_share"


def preemptions(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    """preemptions.per_request: times that a running request was put back, over the requests that finished."""
    events = run.total("preemptions", "value")
    requests = next(
        (n for c in ("prefill_time", "e2e_time", "inference_time") if (n := run.total(c, "count")) is not None), None
    )
    if events is None or requests is None:
        found = not_computable("1", "it takes counters of preemptions and of finished requests")
    elif not requests:
        found = not_computable("1", "no request finished in this run")
    elif not events:
        found = share(0, requests)  # none of n: how often it may happen all the same
    else:
        windows = _windows(connection, run)
        counted = prefill_rate(windows, events, requests)
        found = counted if counted.low is not None else no_interval(
            events / requests, "1", "preemptions over finished requests", counted.reason or "no interval",
            n=round(requests), n_of="requests",
        )  # fmt: skip
    from_page = run.evidence.get("preemptions", ())
    return replace(found, unit="1").with_evidence(*from_page).named(PREEMPTIONS, FINDING, **run.qualifiers)


def queue_share(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    """time.queue_share: queue seconds over queue and inference seconds of finished requests."""
    sums = run.total("queue_time"), run.total("inference_time")
    broken = integrity.broken_runs(connection)
    if sums[0] is None or sums[1] is None:
        missing = [c for c, total in zip(("queue_time", "inference_time"), sums, strict=True) if total is None]
        found = not_computable("1", run.why_missing(*missing))
    elif run.name in broken:
        found = no_interval(None, "1", "none", f"not publishable: {broken[run.name]}")
    elif not sum(s or 0 for s in sums):
        found = not_computable("1", "no request finished in this run")
    else:
        queue, inference = run.buckets.get("queue_time"), run.buckets.get("inference_time")
        page = share_of_sums(queue, inference) if queue is not None and inference is not None else None
        found = choose.share(
            windows=scrape_windows(connection, run, "queue_time", "inference_time"), page=page,
            sums=None if page else (sums[0], sums[1]),
        )  # fmt: skip
    lines = (e for concept in ("queue_time", "inference_time") for e in run.evidence.get(concept, ()))
    return found.with_evidence(*lines).named(QUEUE, FINDING, **run.qualifiers)


def table(found: list[Estimate]) -> pl.DataFrame:
    """One row a run: preemptions for each request, and the share of its time that a request waited to be scheduled."""
    names = {PREEMPTIONS: "preemptions per request", QUEUE: "share of time in the queue"}
    rows: dict[str, dict[str, str | Estimate]] = {}
    for e in found:
        rows.setdefault(run_of(e), {"run": run_of(e)})[names[e.id]] = e
    return cells.frame(rows.values(), dict.fromkeys(("run", *names.values()), pl.String))


def _windows(connection: duckdb.DuckDBPyConnection, run: Run) -> Windows:
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (concept = 'preemptions'), 0)::double as events,
            coalesce(sum(increase) filter (concept = 'prefill_time' and statistic = 'count'), 0)::double as requests
        from run_windows
        where run = $run and concept in ('preemptions', 'prefill_time') and statistic in ('value', 'count')
            and start_s < end_s
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name},
    ).pl()
    return Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "events", "requests", "requests", "life")))
