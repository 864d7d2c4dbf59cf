"""Step time: what each engine step was spent on, where the engine logs its steps; and how many steps are small.

The engine's own seconds: a step counts once, however many requests are in it, and time between steps is in none.
"""

from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes
from analysis.estimates.step_time import step_share
from analysis.estimates.steps_share import steps_share_at_most
from analysis.findings.time_split import FINDING, Run

SHARE = "time.prefill_share.step_time"
RANGE = "time.prefill_share.step_time_range"
SMALL, SMALL_RANGE = "steps.share_at_most", "steps.share_at_most_range"
LIMIT_TOKENS = 8
"""A step of at most so many tokens is small: an edge of the engine's own histogram."""
NEEDED = "no boot log has engine steps; vLLM logs them with --enable-logging-iteration-details"
ATTRIBUTION = "a mixed step's decode takes what a step with as many decoding requests and no prompt takes"


def steps(connection: duckdb.DuckDBPyConnection, boot: str) -> pl.DataFrame:
    """The steps that a boot logged, in the order of its lines."""
    return connection.sql("select * from step_phases where boot = $boot order by line", params={"boot": boot}).pl()


def logged(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The boots that logged steps."""
    return [boot for (boot,) in connection.sql("select distinct boot from step_phases order by boot").fetchall()]


def prefill_shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time of each boot that logged steps, and its range; of each other run, what is missing."""
    boots = logged(connection)
    found = []
    for boot in boots:
        of_boot = steps(connection, boot)
        columns = ("elapsed_s", "context_requests", "generation_requests", "engine")
        share, span = step_share(*(of_boot[c].to_numpy() for c in columns))
        share = replace(share, assumption="; ".join(t for t in (share.assumption, ATTRIBUTION) if t))
        lines = _lines(of_boot)
        found += [
            share.with_evidence(*lines).named(SHARE, FINDING, boot=boot),
            span.with_evidence(*lines).named(RANGE, FINDING, boot=boot),
        ]
    return found + [
        not_computable("1", NEEDED).named(SHARE, FINDING, **run.qualifiers) for run in runs if run.boot not in boots
    ]


def phase_table(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot and kind of step: how many there were, their seconds, and their share of step time in %."""
    return connection.sql(
        """
        select boot as run, phase as "kind of step", count(*)::bigint as steps, sum(elapsed_s)::double as "seconds",
            (100 * sum(elapsed_s) / nullif(sum(sum(elapsed_s)) over (partition by boot), 0))::double as "share (%)"
        from step_phases group by boot, phase order by boot, phase
        """
    ).pl()


def small_steps(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
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
        assumption="these steps only", reason="census: every step that was logged", evidence=_lines(of_boot),
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


def _lines(of_boot: pl.DataFrame) -> tuple[Evidence, ...]:
    """The first and the last step line."""
    ends = [of_boot.row(i, named=True) for i in (0, -1)]
    return tuple(
        Evidence(row["file"], line=row["line"], window=f"{which} step")
        for row, which in zip(ends, ("first", "last"), strict=True)
    )
