"""Do the figures of a run agree: phases with end-to-end time, counts with counts, tokens with tokens."""

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.amdahl import residual_share
from analysis.estimates.estimate import Estimate, not_computable
from analysis.findings.time_split import FINDING, Run
from analysis.findings.time_tables import run_of

RESIDUAL = "time.residual_share"
PARTS = ("queue_time", "prefill_time", "decode_time")
CAUSES = {
    "finish reasons": "aborts have a reason and no phase times, or a page was torn between two counters",
    "clients' requests": "other clients, warm-up and retries; aborts that no page counts; requests after the last page",
    "prompt tokens": "counted at the first token, not at the end: requests in flight or aborted",
    "output tokens": "counted as they come, not at the end: requests in flight or aborted",
}
"""What may make two counts of the same thing differ."""


def residual(run: Run) -> Estimate:
    """time.residual_share: what queue, prefill and decode leave of end-to-end time (frontend and transport)."""
    seconds = {concept: run.seconds(concept) for concept in ("e2e_time", *PARTS)}
    missing = [concept for concept, value in seconds.items() if value is None]
    if missing:
        found = not_computable("1", f"the pages do not export {' and '.join(missing)}")
    else:
        counts = [run.total(concept, "count") for concept in ("e2e_time", "prefill_time")]
        pair = None if None in counts else (counts[0] or 0.0, counts[1] or 0.0)
        found = residual_share(*(value or 0.0 for value in seconds.values()), counts=pair)
    evidence = (e for concept in seconds for e in run.evidence.get(concept, ())[:2])
    return found.with_evidence(*evidence).named(RESIDUAL, FINDING, **run.qualifiers)


def residual_table(residuals: list[Estimate]) -> pl.DataFrame:
    """One row a run: the share of end-to-end time that no phase explains, and what is odd about it."""
    rows = [(run_of(e), e, "; ".join(e.warnings)) for e in residuals]
    return cells.frame(rows, dict.fromkeys(("run", "unexplained", "note"), pl.String))


def reconciliation(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> pl.DataFrame:
    """One row a run and pair of counts of the same thing: both counts, their difference, and what may cause one."""
    sent = dict(
        connection.sql("select boot, count(*) from request_spans where boot is not null group by boot").fetchall()
    )
    rows = []
    for run in runs:
        finished = run.total("prefill_time", "count")
        reasons = [v for (concept, _, key), v in run.totals.items() if concept == "finished_requests" and key]
        for name, one, other in (
            ("finish reasons", finished, sum(reasons) if reasons else None),
            ("clients' requests", finished, sent.get(run.boot)),
            ("prompt tokens", run.total("request_prompt_tokens"), run.total("prompt_tokens", "value")),
            ("output tokens", run.total("request_generation_tokens"), run.total("generation_tokens", "value")),
        ):
            if one is not None and other is not None:
                rows.append((run.name, name, one, float(other), other - one, CAUSES[name] if other != one else "agree"))
    floats = dict.fromkeys(("counted at the end", "other count", "difference"), pl.Float64)
    schema = {"run": pl.String, "against": pl.String, **floats, "possible causes": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")
