"""Rates of prefill, and the load that is often taken for one.

Prompt tokens over the clock say how much was asked, not how fast it went: idle time, decode and overlap are inside.
"""

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, not_computable
from analysis.estimates.prefill_rate import UNIT, prefill_rate, window_rates
from analysis.estimates.ratio_scrapes import Windows
from analysis.findings.lengths import FINDING, SLOPE
from analysis.findings.time_split import BUSY, Run
from analysis.findings.time_tables import run_of

LOAD = "rate.prompt_tokens_over_wall_clock"
MEAN, MEDIAN, PEAK = "rate.prefill.mean", "rate.prefill.median_window", "rate.prefill.peak_window"
LOAD_METHOD = "load, not a prefill rate: prompt tokens over wall seconds"
RESIDENCE = "request-seconds: a prompt that waits for others inside its prefill lowers the rate"
TOKENS = (
    ("request_prefill_computed_tokens", "sum", None, ()),
    ("prompt_tokens_by_source", "value", "local_compute", ("tokens count at the first token, seconds at the end",)),
    ("prompt_tokens", "value", None, ("tokens found in the prefix cache are inside: an upper limit",)),
)
"""What may say how many prompt tokens were computed: concept, statistic, key, warnings; the first that a run has."""


def rates(connection: duckdb.DuckDBPyConnection, run: Run) -> list[Estimate]:
    """The load, and the mean, median and peak prefill rate of a run."""
    found = [(LOAD, _load(connection, run))]
    source = next((s for s in TOKENS if run.total(*s[:3]) is not None), None)
    seconds = run.seconds("prefill_time")
    if source is None or seconds is None:
        missing = not_computable(UNIT, "the pages do not export prompt tokens and prefill seconds")
        found += [(id, missing) for id in (MEAN, MEDIAN, PEAK)]
    else:
        concept, _, _, notes = source
        windows = _windows(connection, run, *source[:3])
        each = (prefill_rate(windows, run.total(*source[:3]) or 0, seconds), *window_rates(windows))
        evidence = (*run.evidence.get(concept, ()), *run.evidence.get("prefill_time", ()))
        for id, estimate in zip((MEAN, MEDIAN, PEAK), each, strict=True):
            found.append((id, estimate.with_warnings(RESIDENCE, *notes).with_evidence(*evidence)))
    return [estimate.named(id, FINDING, **run.qualifiers) for id, estimate in found]


def table(rates: list[Estimate]) -> pl.DataFrame:
    """One row a run: the load, under a name that says so, and the prefill rates; slopes by whose seconds they are."""
    names = {
        LOAD: "load, not a prefill rate",
        MEAN: "mean prefill rate",
        MEDIAN: "median interval",
        PEAK: "peak",
        f"{SLOPE} engine": "slope, engine's seconds",
        f"{SLOPE} clients": "slope, clients' seconds",
    }
    rows: dict[str, dict[str, str | Estimate]] = {}
    for e in rates:
        rows.setdefault(run_of(e), {"run": run_of(e)})[
            names[" ".join((e.id, *e.qualifiers.get("source", "").split()))]
        ] = e
    return cells.frame(rows.values(), dict.fromkeys(("run", *names.values()), pl.String))


def _load(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate:
    _, wall_s = connection.sql(BUSY, params={"run": run.name}).fetchall()[0]
    tokens = run.total("prompt_tokens", "value")
    if tokens is None or not wall_s:
        return not_computable(UNIT, "it takes a counter of prompt tokens and at least two timed pages")
    return Estimate(
        tokens / wall_s, UNIT, "census", LOAD_METHOD, assumption="this run only",
        reason="census: what was asked of this run", warnings=("load, not a prefill rate",),
        evidence=run.evidence.get("prompt_tokens", ()),
    )  # fmt: skip


def _windows(connection: duckdb.DuckDBPyConnection, run: Run, concept: str, statistic: str, key: str | None) -> Windows:
    """The run's scrape intervals: prompt tokens computed and prefill seconds in each."""
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (
                concept = $concept and statistic = $statistic and key is not distinct from $key
            ), 0)::double as tokens,
            coalesce(sum(increase) filter (concept = 'prefill_time' and statistic <> 'count'), 0)::double as seconds,
            (seconds > 0)::integer::double as is_used
        from run_windows
        where run = $run and concept in ($concept, 'prefill_time') and statistic in ('sum', 'count', 'value')
            and start_s < end_s
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name, "concept": concept, "statistic": statistic, "key": key},
    ).pl()
    return Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "tokens", "seconds", "is_used", "life")))
