"""What an analyst asks in a notebook: a share, a quantile, a comparison; the method is picked by what data exist."""

import duckdb
import numpy as np
from numpy.typing import NDArray

from analysis.estimates import choose
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.ratio_page import share_of_sums
from analysis.findings import arm_verdicts, arms, integrity
from analysis.findings.time_split import Run, runs, scrape_windows

UNITS = {"ttft": "s", "tpot": "s", "inter_token_latency": "s", "e2e_time": "s", "queue_time": "s", "prefill_time": "s",
         "decode_time": "s", "request_prompt_tokens": "tokens", "request_generation_tokens": "tokens"}  # fmt: skip
"""Measures that have a quantile, and their unit."""
REQUEST_COLUMNS = {"ttft": "ttft_s", "tpot": "tpot_s", "e2e_time": "e2e_s", "request_prompt_tokens": "prompt_tokens",
                   "request_generation_tokens": "output_tokens"}  # fmt: skip
"""Measures that clients record too, by their column in the view request_metrics."""


class UnknownMeasureError(ValueError):
    """A measure or run that there is not: the message lists those there are."""


def share(connection: duckdb.DuckDBPyConnection, part: str, rest: str, run: str) -> Estimate:
    """sum(part) / (sum(part) + sum(rest)) of two request histograms over a run, as prefill_time and decode_time."""
    found = _run(connection, run)
    if (why := integrity.broken_runs(connection).get(run)) is not None:
        return no_interval(None, "1", "none", f"not publishable: {why}")
    sums = found.total(part), found.total(rest)
    if sums[0] is None or sums[1] is None:
        missing = [concept for concept, total in zip((part, rest), sums, strict=True) if total is None]
        return not_computable("1", f"{run}: {found.why_missing(*missing)}")
    page = None
    if part in found.buckets and rest in found.buckets:
        whole = found.buckets.get("inference_time") if {part, rest} == {"prefill_time", "decode_time"} else None
        page = share_of_sums(found.buckets[part], found.buckets[rest], whole)
    return choose.share(
        windows=scrape_windows(connection, found, part, rest), page=page, sums=None if page else (sums[0], sums[1])
    )


def quantile(connection: duckdb.DuckDBPyConnection, measure: str, q: float, run: str) -> Estimate:
    """The q-quantile of a measure over the requests of a run: from clients' records where there are, else from buckets.

    Client and server time different things (a client's TTFT holds the network and its own queue): `picked` says which.
    """
    if measure not in UNITS:
        raise UnknownMeasureError(f"no quantile of {measure!r}; there are {', '.join(UNITS)}")
    values = _recorded(connection, measure, run)
    buckets = None if len(values) else _run(connection, run).buckets.get(measure)
    return choose.quantile(q, UNITS[measure], values=values if len(values) else None, buckets=buckets)


def compare(connection: duckdb.DuckDBPyConnection, a: str, b: str, measure: str, kind: str | None = None) -> Estimate:
    """arms.ratio: arm `b` over arm `a`, boots as units, against the margin that study.toml declares (default 5 %).

    `measure` is one of findings/arms.MEASURES; `kind` the class of requests, for measures that clients record by class.
    """
    if measure not in arms.MEASURES:
        raise UnknownMeasureError(f"no comparison of {measure!r}; there are {', '.join(arms.MEASURES)}")
    of = arms.of(connection)
    if missing := [arm for arm in (a, b) if arm not in of.names]:
        raise UnknownMeasureError(f"no arm {missing[0]!r}; there are {', '.join(of.names) or 'none'}")
    found = [e for e in arm_verdicts.verdicts(of, [(a, b)]) if e.qualifiers["measure"] == measure]
    known = [e.qualifiers.get("class") for e in found]
    if kind is None and len(known) > 1:
        raise UnknownMeasureError(f"{measure} is by class of requests; there are {', '.join(map(str, known))}")
    found = [e for e in found if kind is None or e.qualifiers.get("class") == kind]
    nothing = not_computable("x", f"no boot of both arms has {arms.MEASURES[measure][0]}")
    return found[0] if found else nothing.named("arms.ratio", arms.FINDING, a=a, b=b, measure=measure)


def _run(connection: duckdb.DuckDBPyConnection, name: str) -> Run:
    found = {run.name: run for run in runs(connection)}
    if name not in found:
        raise UnknownMeasureError(f"no run {name!r}; there are {', '.join(found) or 'none'}")
    return found[name]


def _recorded(connection: duckdb.DuckDBPyConnection, measure: str, run: str) -> NDArray[np.float64]:
    """The measure's values in clients' records below a folder of the run's name; empty where there are none."""
    if measure not in REQUEST_COLUMNS:
        return np.empty(0)
    column = REQUEST_COLUMNS[measure]
    rows = connection.sql(
        f"select {column}::double as value from request_metrics "  # a column of our own table, not of the caller
        "where is_counted and is_completed and list_contains(string_split(file, '/'), $run) "
        f"and {column} is not null order by value",
        params={"run": run},
    )
    return np.array([value for (value,) in rows.fetchall()], dtype=np.float64)
