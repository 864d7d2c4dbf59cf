"""Small steps: how many of the engine's steps process next to nothing, from its metric and from its step log.

The metric books a whole prompt on the step of its first token and omits steps that carry a part of a prompt only, so it
says a range. A step log counts every step.
"""

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, not_computable
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes
from analysis.estimates.steps_share import steps_share_at_most
from analysis.findings.step_time import ends_of_log, logged, steps
from analysis.findings.time_split import FINDING, Run
from analysis.findings.time_tables import run_of

SMALL, SMALL_RANGE = "steps.share_at_most", "steps.share_at_most_range"
LIMIT_TOKENS = 8
"""A step of at most so many tokens is small: an edge of the engine's own histogram."""


def shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """steps.share_at_most: exact from a step log, and from the metric with the range of what it may omit."""
    found = [_counted(steps(connection, boot)).named(SMALL, FINDING, **_names(boot=boot, source="step log"))
             for boot in logged(connection)]  # fmt: skip
    for run in runs:
        names = _names(**run.qualifiers, source="metric")
        if (recorded := run.buckets.get("iteration_tokens")) is None:
            missing = not_computable("1", "the pages do not export a histogram of tokens by step")
            found.append(missing.named(SMALL, FINDING, **names))
            continue
        lengths = run.buckets.get("request_prefill_computed_tokens", run.buckets.get("request_prompt_tokens"))
        requests = round(run.total("prefill_time", "count") or 0)
        page = steps_share_at_most(recorded, LIMIT_TOKENS, requests, lengths, _budget(connection, run))
        series = share_from_scrapes(_step_windows(connection, run))
        estimate = page.estimate if series.low is None else series.with_warnings(*page.census.warnings)
        evidence = run.evidence.get("iteration_tokens", ())
        found += [
            estimate.with_evidence(*evidence).named(SMALL, FINDING, **names),
            page.bound.with_evidence(*evidence).named(SMALL_RANGE, FINDING, **names),
        ]
    return found


def _names(**names: str) -> dict[str, str]:
    return {**names, "tokens": str(LIMIT_TOKENS)}


def _counted(of_boot: pl.DataFrame) -> Estimate:
    sizes = of_boot.filter(pl.col("phase") != "empty")["tokens"]
    if not len(sizes):
        return not_computable("1", "no step did any work")
    return Estimate(
        float((sizes <= LIMIT_TOKENS).mean()), "1", "census", "counted in the step log", n=len(sizes), n_of="steps",  # type: ignore[arg-type]
        assumption="these steps only", reason="census: every step that was logged", evidence=ends_of_log(of_boot),
    )  # fmt: skip


def _step_windows(connection: duckdb.DuckDBPyConnection, run: Run) -> Windows:
    """The run's scrape intervals: small steps recorded in each, and all steps recorded in it."""
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (statistic = 'bucket' and le = $limit), 0)::double as small,
            coalesce(sum(increase) filter (statistic = 'count'), 0)::double as steps
        from run_windows
        where run = $run and concept = 'iteration_tokens' and start_s < end_s
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name, "limit": float(LIMIT_TOKENS)},
    ).pl()
    return Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "small", "steps", "steps", "life")))


def _budget(connection: duckdb.DuckDBPyConnection, run: Run) -> float | None:
    query = "select max_num_batched_tokens::double from boots where boot = $boot"
    rows = connection.sql(query, params={"boot": run.boot}).fetchall()
    return rows[0][0] if rows else None


def table(shares: list[Estimate]) -> pl.DataFrame:
    """One row a run and source: the share of small steps, and the range of what the metric may omit."""
    spans = {run_of(e): e for e in shares if e.id == SMALL_RANGE}
    rows = [
        (
            run_of(e),
            e.qualifiers["source"],
            e,
            spans.get(run_of(e)) if e.qualifiers["source"] == "metric" else None,
        )
        for e in shares
        if e.id == SMALL
    ]
    schema = dict.fromkeys(("run", "source", "share", "range"), pl.String)
    return cells.frame(rows, schema).sort("run", "source", maintain_order=True)
