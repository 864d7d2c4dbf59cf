"""Where the time goes: prefill and decode in request-seconds, from the counters of each run.

Request-seconds are residence: each request's own seconds, added up. Requests overlap, so the share is not the share of
the engine's busy time, and it bounds what a faster prefill could gain only where requests do not overlap.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import duckdb
import polars as pl

from analysis.estimates import amdahl, choose
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.estimates.prefix_hits import hit_share
from analysis.estimates.ratio_page import share_of_sums
from analysis.estimates.ratio_scrapes import Windows
from analysis.estimates.share_edge import finish_share
from analysis.findings import evidence, integrity
from analysis.findings.frames import rows

FINDING = "20-where-time-goes"
OWN_KIND = "this engine's own kind of seconds"
SHARE = "time.prefill_share.request_seconds"
BUSY = "select busy_s, wall_s from run_clock where run = $run union all select null, null limit 1"
UNUSABLE = "select concept, why from run_unusable where run = $run"
PHASES = {"prefill_time": "time.prefill_seconds", "decode_time": "time.decode_seconds"}
SECONDS = {"queue_time": "time.queue_seconds", **PHASES}


@dataclass(frozen=True, slots=True)
class Run:
    """What one boot did while it was scraped (or one target, when its boot is not known).

    `totals` maps (concept, statistic, key) to the increase over the run; `buckets` maps a concept to its histogram;
    `unusable` says of a concept that the pages export why it is no number.
    """

    name: str
    boot: str | None
    totals: Mapping[tuple[str, str, str | None], float]
    buckets: Mapping[str, Buckets]
    evidence: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)

    @property
    def qualifiers(self) -> dict[str, str]:
        """How results.json names the run."""
        return {"boot": self.boot} if self.boot else {"target": self.name}

    def total(self, concept: str, statistic: str = "sum", key: str | None = None) -> float | None:
        """The increase of a concept over the run, or None when the pages do not hold it."""
        return self.totals.get((concept, statistic, key))

    def seconds(self, concept: str) -> float | None:
        """Seconds of a concept over the run: its histogram's sum, or its counter where the engine has no histogram."""
        in_histogram = self.total(concept)
        return self.total(concept, "value") if in_histogram is None else in_histogram

    def why_missing(self, *concepts: str) -> str:
        """Of concepts without a total: what the pages say of them, or that they do not export them."""
        said = [f"{concept} {self.unusable[concept]}" for concept in concepts if concept in self.unusable]
        silent = [concept for concept in concepts if concept not in self.unusable]
        return "; ".join([*said, *([f"the pages do not export {' and '.join(silent)}"] if silent else [])])


def runs(connection: duckdb.DuckDBPyConnection) -> list[Run]:
    """Every run of the study, in natural order of its files."""
    table = rows(connection, "select run, boot, concept, statistic, le, key, total from run_totals order by all")
    order = rows(connection, "select run, min(first_page) as first from run_totals group by run order by first")
    found = []
    for name in order["run"]:
        of_run = table.filter(pl.col("run") == name)
        plain = of_run.filter(pl.col("statistic") != "bucket")
        totals = {(r["concept"], r["statistic"], r["key"]): r["total"] for r in plain.iter_rows(named=True)}
        buckets = {
            str(concept[0]): Buckets.from_cumulative(
                edges["le"].to_numpy(),
                edges["total"].to_numpy(),
                totals.get((str(concept[0]), "sum", None), float("nan")),
            )
            for concept, edges in of_run.filter(pl.col("statistic") == "bucket").group_by("concept")
        }
        unusable = dict(connection.sql(UNUSABLE, params={"run": name}).fetchall())
        found.append(Run(name, of_run["boot"][0], totals, buckets, evidence.of_run(connection, name), unusable))
    return found


def phase_seconds(run: Run) -> list[Estimate]:
    """time.queue_seconds, time.prefill_seconds, time.decode_seconds: the counters' increase over the run, exact."""
    found = []
    for concept, id in SECONDS.items():
        seconds, requests = run.seconds(concept), run.total(concept, "count")
        estimate = not_computable("s", run.why_missing(concept)) if seconds is None else Estimate(
            seconds, "s", "census", "increase of the counter over the run, restarts respected",
            n=None if requests is None else round(requests), n_of="requests", assumption="these requests only",
            reason="census: the sum over the finished requests of this run",
            evidence=run.evidence.get(concept, ()),
        )  # fmt: skip
        found.append(estimate.named(id, FINDING, **run.qualifiers))
    return found


def prefill_shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.request_seconds of each run: from its scrapes where there are enough, else one page.

    A run whose pages contradict themselves (store/checks) has none: not publishable, and why.
    """
    broken = integrity.broken_runs(connection)
    found = []
    for run in runs:
        missing = [concept for concept in PHASES if run.seconds(concept) is None]
        if missing:
            share = not_computable("1", run.why_missing(*missing))
        elif run.name in broken:
            share = no_interval(None, "1", "none", f"not publishable: {broken[run.name]}")
        elif not sum(run.seconds(concept) or 0 for concept in PHASES):
            share = not_computable("1", "no request finished in this run")
        else:
            share = _share(connection, run).with_warnings(*phases_left_out(run), *_own_kind(connection, run))
        lines = (e for concept in PHASES for e in run.evidence.get(concept, ()))
        found.append(share.with_evidence(*lines).named(SHARE, FINDING, **run.qualifiers))
    return found


def prefill_bounds(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.request_seconds.bound of each run that has histograms and passes the checks.

    What the interval could be at most if requests are independent, whatever the requests inside the buckets were.
    """
    broken = integrity.broken_runs(connection)
    found = []
    for run in runs:
        histograms = [run.buckets.get(concept) for concept in (*PHASES, "inference_time")]
        if histograms[0] is not None and histograms[1] is not None and run.name not in broken:
            bound = share_of_sums(histograms[0], histograms[1], histograms[2]).bound
            lines = (e for concept in PHASES for e in run.evidence.get(concept, ()))
            found.append(bound.with_evidence(*lines).named(f"{SHARE}.bound", FINDING, **run.qualifiers))
    return found


def _share(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    histograms = [run.buckets.get(concept) for concept in (*PHASES, "inference_time")]
    windows = scrape_windows(connection, run)
    if histograms[0] is None or histograms[1] is None:
        return choose.share(windows=windows, sums=(run.seconds("prefill_time") or 0, run.seconds("decode_time") or 0))
    return choose.share(windows=windows, page=share_of_sums(histograms[0], histograms[1], histograms[2]))


def scrape_windows(
    connection: duckdb.DuckDBPyConnection, run: Run, part: str = "prefill_time", rest: str = "decode_time"
) -> Windows:
    """The run's scrape intervals: seconds of `part` and of both, requests finished in each (1 or 0: not counted)."""
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (concept = $part and statistic <> 'count'), 0)::double as part_s,
            coalesce(sum(increase) filter (statistic <> 'count'), 0)::double as both_s,
            coalesce(
                sum(increase) filter (concept = $part and statistic = 'count'), (both_s > 0)::integer
            )::double as requests
        from run_windows
        where run = $run and concept in ($part, $rest) and statistic in ('sum', 'count', 'value') and start_s < end_s
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name, "part": part, "rest": rest},
    ).pl()
    return Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "part_s", "both_s", "requests", "life")))


def mean_concurrency(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    """time.mean_concurrency: request-seconds of inference over the busy seconds of the run.

    A scrape interval is busy when requests ran at one of its ends or finished in it. Where the pages do not say how
    many ran, all seconds between pages count. Either way the figure is a lower limit.
    """
    busy_s, wall_s = connection.sql(BUSY, params={"run": run.name}).fetchall()[0]
    phases = [run.seconds(concept) for concept in PHASES]
    inference_s = run.seconds("inference_time")
    if inference_s is None and None not in phases:
        inference_s = sum(seconds or 0 for seconds in phases)
    if inference_s is None or not wall_s or (busy_s is None and inference_s == 0):
        found = not_computable(
            "1", "it takes inference seconds and at least two timed pages with requests between them"
        )
    else:
        # A scrape interval is busy as a whole or idle as a whole, so idle seconds stay in the clock: a lower limit.
        found = amdahl.mean_concurrency(inference_s, None, busy_s or wall_s)
    found = found.with_evidence(*run.evidence.get("inference_time", ()))
    return found.named("time.mean_concurrency", FINDING, **run.qualifiers)


def finish_shares(run: Run) -> list[Estimate]:
    """finish.share of each finish reason that the pages export."""
    counts = {key: total for (concept, _, key), total in run.totals.items() if concept == "finished_requests" and key}
    if not sum(counts.values()):
        why = "no request finished in this run" if counts else "the pages do not export finish reasons"
        return [not_computable("1", why).named("finish.share", FINDING, **run.qualifiers)]
    n = sum(counts.values())
    unseen = phases_left_out(run)
    return [
        finish_share(k, n)
        .with_warnings(*(f"client aborts are not counted here: {text}" for text in unseen if reason == "abort"))
        .with_evidence(*run.evidence.get("finished_requests", ()))
        .named("finish.share", FINDING, **run.qualifiers, reason=reason)
        for reason, k in sorted(counts.items())
    ]


def prefix_hits(run: Run) -> Estimate:
    """cache.prefix_hit_rate: cached over queried prompt tokens of the local prefix cache."""
    hits, queries = (run.total(c, "value") for c in ("prefix_cache_hits", "prefix_cache_queries"))
    if hits is None or queries is None:
        found = not_computable("1", "the pages do not export prefix cache queries and hits")
    elif not queries:
        found = not_computable("1", "no prompt asked the prefix cache in this run")
    else:
        found = hit_share(hits, queries, run.buckets.get("request_prompt_tokens"))
        cited = ("prefix_cache_hits", "prefix_cache_queries", "request_prompt_tokens")
        found = found.with_evidence(*(e for concept in cited for e in run.evidence.get(concept, ())))
    return found.named("cache.prefix_hit_rate", FINDING, **run.qualifiers)


def phases_left_out(run: Run) -> tuple[str, ...]:
    """Requests that got a first token and never finished in these pages: they are in no per-request histogram."""
    first, finished = run.total("ttft", "count"), run.total("prefill_time", "count")
    if first is None or finished is None or first <= finished:
        return ()
    return (
        f"{first - finished:.0f} requests got a first token and are in neither sum: aborted by their clients, "
        "or still running at the last page",
    )


def _own_kind(connection: duckdb.DuckDBPyConnection, run: Run) -> tuple[str, ...]:
    """What the seconds of an engine without request histograms are, in the words of its table of metrics."""
    if all(run.total(concept) is not None for concept in PHASES):
        return ()
    query = "select distinct definition from run_definitions where run = $run and concept in $concepts order by 1"
    found = connection.sql(query, params={"run": run.name, "concepts": list(PHASES)}).fetchall()
    return tuple(f"{OWN_KIND}: {text}" for (text,) in found)
