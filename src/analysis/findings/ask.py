"""What an analyst asks in a notebook: a share, a quantile, a comparison; the method is picked by what data exist."""

import json

import duckdb
import numpy as np
from numpy.typing import NDArray

from analysis.estimates import choose
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.ratio_page import share_of_sums
from analysis.findings import integrity
from analysis.findings.time_split import Run, runs, scrape_windows
from analysis.findings.token_pool import boots

UNITS = {"ttft": "s", "tpot": "s", "inter_token_latency": "s", "e2e_time": "s", "queue_time": "s", "prefill_time": "s",
         "decode_time": "s", "request_prompt_tokens": "tokens", "request_generation_tokens": "tokens"}  # fmt: skip
"""Measures that have a quantile, and their unit."""
REQUEST_COLUMNS = {"ttft": "ttft_s", "tpot": "tpot_s", "e2e_time": "e2e_s", "request_prompt_tokens": "prompt_tokens",
                   "request_generation_tokens": "output_tokens"}  # fmt: skip
"""Measures that clients record too, by their column in the view request_metrics."""
BOOT_MEASURES = {"pool": "token_pool_total_tokens", "available": "available_kv_bytes", "start_up": "ready_s"}
"""Measures of a boot that its log gives, by their column in the view boot_arms."""


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


def compare(connection: duckdb.DuckDBPyConnection, a: str, b: str, measure: str) -> Estimate:
    """arms.ratio: arm `a` over arm `b`, boots as units, against the margin that study.toml declares (default 5 %)."""
    if measure in BOOT_MEASURES:
        table = boots(connection)
        of_arm = {arm: table.filter(arm=arm)[BOOT_MEASURES[measure]].drop_nulls().to_numpy() for arm in (a, b)}
    elif measure == "prefill_share":
        arms = dict(boots(connection).select("boot", "arm").iter_rows())
        of_arm = {arm: _shares(connection, {boot for boot, its in arms.items() if its == arm}) for arm in (a, b)}
    else:
        there = ", ".join([*BOOT_MEASURES, "prefill_share"])
        raise UnknownMeasureError(f"no comparison of {measure!r}; there are {there}")
    got = choose.compare(of_arm[a], of_arm[b], margin=declared_margin(connection))
    if measure == "pool" and len(settings := _limits(connection, a, b)) > 1:
        got = got.with_warnings(
            f"the printed pool is comparable within one setting only, and these boots have {len(settings)}: "
            + "; ".join(f"max_model_len {length}, max_num_batched_tokens {batch}" for length, batch in settings)
        )
    return got.named("arms.ratio", "", a=a, b=b, measure=measure)


def _limits(connection: duckdb.DuckDBPyConnection, *arms: str) -> list[tuple[int | None, int | None]]:
    """The limits that a pool depends on, over the boots of these arms."""
    query = """
        select distinct max_model_len_tokens, max_num_batched_tokens from boot_arms
        where arm in $arms and token_pool_total_tokens is not null order by all
    """
    return connection.sql(query, params={"arms": list(arms)}).fetchall()


def declared_margin(connection: duckdb.DuckDBPyConnection) -> float | None:
    """The equivalence margin that study.toml declares (a share, 0.05), or None."""
    rows = connection.sql(
        "select value from study_facts where key in ('margin', 'objective.margin') limit 1"
    ).fetchall()
    margin = json.loads(rows[0][0]) if rows else None
    return float(margin) if isinstance(margin, int | float) and 0 < margin < 1 else None


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


def _shares(connection: duckdb.DuckDBPyConnection, of_boots: set[str]) -> NDArray[np.float64]:
    pairs = [(r.total("prefill_time"), r.total("decode_time")) for r in runs(connection) if r.boot in of_boots]
    return np.array([p / (p + d) for p, d in pairs if p is not None and d is not None and p + d > 0])
