"""Counts of requests and prompt tokens that should agree, and the rate of the longest prompt."""

import duckdb

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.findings.time_split import Run, runs

FINDING = "90-takeaways"
REQUESTS, UNMATCHED = "time.requests", "finish.unmatched"
COMPUTED, LONGEST, PEAK_USE = "cache.computed_share", "rate.prefill.longest_prompt", "cache.peak_use"
PEAK = """
select gauges.target, any_value(boot_pages.boot), max(value), count(*) from concept_gauges as gauges
join boot_pages using (page) where concept = 'kv_cache_usage' group by gauges.target order by gauges.target
"""
SPANS = """
select place, boot, spans.file, prompt_tokens, prompt_tokens / (first_s - sent_s) as rate
from request_spans as spans join request_metrics using (run, ordinal)
where is_placed and first_s > sent_s and prompt_tokens > 0
qualify row_number() over (partition by place order by prompt_tokens desc, sent_s) = 1
order by place
"""
"""The longest prompt of each place, by its client's clock."""


def counts(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """time.requests, finish.unmatched, cache.computed_share of runs; rate.prefill.longest_prompt of traces."""
    return [e for run in runs(connection) for e in _of_run(run)] + _longest(connection)


def _of_run(run: Run) -> list[Estimate]:
    timed = run.total("prefill_time", "count")
    reasons = [total for (concept, _, key), total in run.totals.items() if concept == "finished_requests" and key]
    prompts, computed = run.total("request_prompt_tokens"), run.total("request_prefill_computed_tokens")
    unmatched = None if timed is None or not reasons else sum(reasons) - timed
    share = None if not prompts or computed is None else computed / prompts
    found = (
        (REQUESTS, timed, "requests in the time histograms", ("prefill_time",)),
        (UNMATCHED, unmatched, "finish reasons less requests in the time histograms",
         ("finished_requests", "prefill_time")),
        (COMPUTED, share, "computed over all prompt tokens of finished requests",
         ("request_prefill_computed_tokens", "request_prompt_tokens")),
    )  # fmt: skip
    return [_census(run, id, value, method, concepts) for id, value, method, concepts in found]


def _census(run: Run, id: str, value: float | None, method: str, concepts: tuple[str, ...]) -> Estimate:
    if value is None:
        return not_computable(
            "1", run.why_missing(*(c for c in concepts if c not in run.evidence)) or "no request"
        ).named(id, FINDING, **run.qualifiers)
    return Estimate(
        value, "1", "census", method, reason="census: these requests only",
        evidence=tuple(e for concept in concepts for e in run.evidence.get(concept, ())[:2]),
    ).named(id, FINDING, **run.qualifiers)  # fmt: skip


def _longest(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    return [
        Estimate(
            rate, "tokens/s", "census", f"{tokens:,} prompt tokens over the time to the first token", n=1,
            n_of="requests", reason="census: one request", evidence=(Evidence(file),),
            warnings=("seen by its client: network and queue are inside",),
        ).named(LONGEST, FINDING, **({"boot": boot} if boot else {"target": place}))
        for place, boot, file, tokens, rate in connection.sql(SPANS).fetchall()
    ]  # fmt: skip


def peak_use(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """cache.peak_use of each run: the fullest that a scrape saw the cache."""
    return [
        Estimate(
            value, "1", "census", "highest of the scrapes", n=n, n_of="scrapes", reason="census: these scrapes only",
            warnings=("between two scrapes it may have been higher",),
        ).named(PEAK_USE, FINDING, **({"boot": boot} if boot else {"target": target}))
        for target, boot, value, n in connection.sql(PEAK).fetchall()
    ]  # fmt: skip
