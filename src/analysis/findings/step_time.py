"""Step time: what each engine step was spent on, where the engine logs its steps.

The engine's own seconds: a step counts once, however many requests are in it, and time between steps is in none.
"""

from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.rounding import show
from analysis.estimates.step_time import step_share
from analysis.findings.time_split import FINDING, Run
from analysis.findings.time_tables import run_of

SHARE = "time.prefill_share.step_time"
RANGE = "time.prefill_share.step_time_range"
NEEDED = "no boot log has engine steps; vLLM logs them with --enable-logging-iteration-details"
ATTRIBUTION = "a mixed step's decode takes what a step with as many decoding requests and no prompt takes"


def steps(connection: duckdb.DuckDBPyConnection, boot: str) -> pl.DataFrame:
    """The steps that a boot logged, in the order of its lines."""
    return connection.sql("select * from step_phases where boot = $boot order by line", params={"boot": boot}).pl()


def logged(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The boots that logged steps."""
    return [boot for (boot,) in connection.sql("select distinct boot from step_phases order by boot").fetchall()]


def prefill_shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time of each boot that logged steps, and its range; of other runs, what is missing."""
    boots = logged(connection)
    found = []
    for boot in boots:
        of_boot = steps(connection, boot)
        columns = ("elapsed_s", "context_requests", "generation_requests", "engine")
        share, span = step_share(*(of_boot[c].to_numpy() for c in columns))
        share = replace(share, assumption="; ".join(t for t in (share.assumption, ATTRIBUTION) if t))
        lines = ends_of_log(of_boot)
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


def share_table(shares: list[Estimate]) -> pl.DataFrame:
    """One row a run: prefill share of step time and its interval in %, its range, and what is missing."""
    spans = {run_of(e): e for e in shares if e.id == RANGE}
    points = [e for e in shares if e.id == SHARE]
    rows = [
        (run_of(e), "step time", *cells.ends(e, 100).values(), spans.get(run_of(e)),
         *cells.basis(e).values(), cells.reason(e))
        for e in points
    ]  # fmt: skip
    floats, texts = dict.fromkeys(("value", "low", "high"), pl.Float64), ("n_of", "method", "reason")
    schema = {"label": pl.String, "group": pl.String, **floats, "range": pl.String, "n": pl.Int64}
    return cells.frame(rows, schema | dict.fromkeys(texts, pl.String))


def describe(shares: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of step time."""
    known = sorted((e for e in shares if e.id == SHARE and e.value is not None), key=lambda e: e.value or 0)
    ends = " to ".join(dict.fromkeys(show(e) for e in (known[:1] + known[-1:])))
    spans = {run_of(e): show(e) for e in shares if e.id == RANGE}
    said = "; ".join(f"{run_of(e)}: {show(e)}, by no rule outside {spans.get(run_of(e))}" for e in known)
    return {
        "title": f"Prefill takes {ends} of the engine's step time"
        if known
        else "No engine logged its steps; vLLM does with --enable-logging-iteration-details",
        "subtitle": "prefill share of step time (%); rule: 95 % interval over blocks of step time"
        if known
        else "vLLM logs each step with --enable-logging-iteration-details",
        "description": f"Prefill share of step time by run. {said or NEEDED}",
    }


def ends_of_log(of_boot: pl.DataFrame) -> tuple[Evidence, ...]:
    """The first and the last step line."""
    ends = [of_boot.row(i, named=True) for i in (0, -1)]
    return tuple(
        Evidence(row["file"], line=row["line"], window=f"{which} step")
        for row, which in zip(ends, ("first", "last"), strict=True)
    )
