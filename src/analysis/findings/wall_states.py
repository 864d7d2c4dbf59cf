"""Wall-clock states: idle, prefill only, decode only, both, from what clients wrote down about each request.

A client's "prefill" is everything from sending to the first token: network, queue and prefill. Two requests that are in
one state at once count once, so the states of a place add up to its time.
"""

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.estimates.rounding import show
from analysis.estimates.trace_step_time import step_share_from_traces
from analysis.estimates.wall_states import STATES, clients_at_once, state_shares
from analysis.findings.time_split import FINDING, Run
from analysis.findings.time_tables import run_of

STATE, SHARE = "time.wall_state", "time.prefill_share.wall_clock"
FROM_TRACES = "time.prefill_share.step_time_from_traces"
NEEDED = "no request trace with times on the wall clock (sent, first token, end)"
A_PART = "a part of the requests only"
CAUTION = "seen by clients: from sending to the first token is called prefill, so queue and network are inside"

GAPS = """
select start_s, stop_s from (
    select unnest(token_at_s[:-2]) as start_s, unnest(token_at_s[2:]) as stop_s
    from request_spans where is_placed and place = $place
)
where isfinite(start_s) and isfinite(stop_s) and start_s <= stop_s order by all
"""
"""Arrivals of neighbouring events of each stream."""


def shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.wall_state of each state and time.prefill_share.wall_clock, by place; of each other run, what is missing."""
    found, places, finished = [], set(), _finished(runs)
    for (place, boot), spans in spans_by_place(connection):
        names = {"boot": boot} if boot else {"target": place}
        placed = spans.filter("is_placed")
        first = placed["first_s"].fill_null(placed["end_s"])
        estimates = state_shares(placed["sent_s"].to_numpy(), first.to_numpy(), placed["end_s"].to_numpy())
        notes, evidence = notes_of(spans), files_of(spans)
        part = _part_only(placed.height, finished.get(boot or place))
        notes = (*notes, f"{A_PART}: {part}") if part else notes
        for state, estimate in estimates.items():
            id, more = (STATE, {"state": state}) if state in STATES else (SHARE, {})
            said = estimate.with_warnings(CAUTION, *notes).with_evidence(*evidence)
            found.append(said.named(id, FINDING, **names, **more))
        places.add(boot or place)
    missing = (run for run in runs if run.name not in places)
    return found + [not_computable("1", NEEDED).named(SHARE, FINDING, **run.qualifiers) for run in missing]


def step_shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.prefill_share.step_time_from_traces: what step time would show, from gaps between tokens, by place.

    None where the engine served more requests than the clients recorded: it worked for those too.
    """
    found, finished = [], _finished(runs)
    for (place, boot), spans in spans_by_place(connection):
        placed = spans.filter("is_placed")
        times = (placed["sent_s"], placed["first_s"].fill_null(placed["end_s"]), placed["end_s"])
        gaps = connection.sql(GAPS, params={"place": place}).pl()
        estimate = step_share_from_traces(*(column.to_numpy() for column in (*times, gaps["start_s"], gaps["stop_s"])))
        names = {"boot": boot} if boot else {"target": place}
        if part := _part_only(placed.height, finished.get(boot or place)):
            estimate = no_interval(None, "1", estimate.method, f"{A_PART}: {part}", n=placed.height, n_of="requests")
        said = estimate.with_warnings(CAUTION, *notes_of(spans)).with_evidence(*files_of(spans))
        found.append(said.named(FROM_TRACES, FINDING, **names))
    return found


def at_once(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.mean_concurrency by clients' clocks, by place; no census where the engine served more than they sent."""
    found, finished = [], _finished(runs)
    for (place, boot), spans in spans_by_place(connection):
        placed = spans.filter("is_placed")
        estimate = clients_at_once(placed["sent_s"].to_numpy(), placed["end_s"].to_numpy())
        reason = _part_only(placed.height, finished.get(boot or place))
        if estimate.value is not None and reason:
            estimate = no_interval(estimate.value, "1", estimate.method, reason, n=placed.height, n_of="requests")
        names = {"boot": boot} if boot else {"target": place}
        said = estimate.with_evidence(*files_of(spans))
        found.append(said.named("time.mean_concurrency", FINDING, **names, source="clients"))
    return found


def _finished(runs: list[Run]) -> dict[str, float | None]:
    return {run.name: run.total("prefill_time", "count") for run in runs}


def _part_only(recorded: int, served: float | None) -> str:
    """What to say where the engine finished more requests than clients recorded; empty where it did not."""
    if served is None or served <= recorded:
        return ""
    return f"the engine finished {served:.0f} requests, the traces hold {recorded}"


def table(states: list[Estimate]) -> pl.DataFrame:
    """One row a place and state: its share in %, with the interval of the share in which any prefill was running."""
    prefill = {run_of(e): e for e in states if e.id == SHARE}
    rows = []
    for e in states:
        if e.id == STATE and e.value is not None:
            of_prefill = cells.ends(prefill[run_of(e)], 100)
            state, value = e.qualifiers["state"].replace("_", " "), Shown(e, 100 * e.value, "value")
            rows.append((run_of(e), state, value, of_prefill["low"], of_prefill["high"], e))
    floats = dict.fromkeys(("value", "low", "high"), pl.Float64)
    schema = {"label": pl.String, "state": pl.String, **floats, "share": pl.String}
    return cells.frame(rows, schema)


def describe(states: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of states."""
    known = [e for e in states if e.id == SHARE and e.value is not None]
    said = [f"{run_of(e)}, {e.qualifiers['state'].replace('_', ' ')}: {show(e)}"
            for e in states if e.id == STATE and e.value is not None]  # fmt: skip
    parts = sum(any(w.startswith(A_PART) for w in e.warnings) for e in known)
    ends = sorted([e for e in known if e.low is not None] or known, key=lambda e: e.value or 0)
    return {
        "title": f"Some request waited for its first token in {show(ends[0])}"
        + (f" to {show(ends[-1])}" if len(ends) > 1 else "")
        + " of the time on the clock"
        if ends
        else "Nobody wrote down when requests were sent, first answered and done",
        "subtitle": "share of wall-clock time (%) from the first request to the last; "
        "rule: 95 % interval of any prefill, around its end"
        + (f"; in {parts} of {len(known)} runs the traces hold a part of the requests only" if parts else ""),
        "description": "States by run. " + ("; ".join(said) or NEEDED),
    }


def spans_by_place(connection: duckdb.DuckDBPyConnection) -> list[tuple[tuple[str, str | None], pl.DataFrame]]:
    """The requests that clients timed on the wall clock, by what served them: (place, boot if known), rows."""
    table = connection.sql("select * from request_spans order by place, file, run, ordinal").pl()
    return [((str(k[0]), part["boot"][0]), part) for k, part in table.group_by("place", maintain_order=True)]


def notes_of(spans: pl.DataFrame) -> tuple[str, ...]:
    """What was left out of the rows, and how requests without a token are taken."""
    lost = spans.filter(~pl.col("is_placed")).height
    silent = spans.filter(pl.col("is_placed") & pl.col("first_s").is_null()).height
    notes = [f"{lost} requests without times, or with times out of order, left out"] if lost else []
    return (*notes, *([f"{silent} requests got no token: waiting for it until they ended"] if silent else []))


def files_of(spans: pl.DataFrame) -> tuple[Evidence, ...]:
    """The files that the rows came from."""
    return tuple(Evidence(file) for file in spans["file"].unique(maintain_order=True)[:12])
