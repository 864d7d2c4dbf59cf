"""Wall-clock states: idle, prefill only, decode only, both, from what clients wrote down about each request.

A client's "prefill" is everything from sending to the first token: network, queue and prefill. Two requests that are in
one state at once count once, so the states of a place add up to its time.
"""

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.wall_states import STATES, state_shares
from analysis.findings.time_split import FINDING, Run

STATE, SHARE = "time.wall_state", "time.prefill_share.wall_clock"
NEEDED = "no request trace with times on the wall clock (sent, first token, end)"
CAUTION = "seen by clients: from sending to the first token is called prefill, so queue and network are inside"


def shares(connection: duckdb.DuckDBPyConnection, runs: list[Run]) -> list[Estimate]:
    """time.wall_state of each state and time.prefill_share.wall_clock, by place; of each other run, what is missing."""
    found, places = [], set()
    for (place, boot), spans in _spans(connection):
        names = {"boot": boot} if boot else {"target": place}
        placed = spans.filter("is_placed")
        first = placed["first_s"].fill_null(placed["end_s"])
        estimates = state_shares(placed["sent_s"].to_numpy(), first.to_numpy(), placed["end_s"].to_numpy())
        notes, evidence = _notes(spans), _files(spans)
        for state, estimate in estimates.items():
            id, more = (STATE, {"state": state}) if state in STATES else (SHARE, {})
            said = estimate.with_warnings(CAUTION, *notes).with_evidence(*evidence)
            found.append(said.named(id, FINDING, **names, **more))
        places.add(boot or place)
    missing = (run for run in runs if run.name not in places)
    return found + [not_computable("1", NEEDED).named(SHARE, FINDING, **run.qualifiers) for run in missing]


def _spans(connection: duckdb.DuckDBPyConnection) -> list[tuple[tuple[str, str | None], pl.DataFrame]]:
    table = connection.sql("select * from request_spans order by place, file, run, ordinal").pl()
    return [((str(k[0]), part["boot"][0]), part) for k, part in table.group_by("place", maintain_order=True)]


def _notes(spans: pl.DataFrame) -> tuple[str, ...]:
    lost = spans.filter(~pl.col("is_placed")).height
    silent = spans.filter(pl.col("is_placed") & pl.col("first_s").is_null()).height
    notes = [f"{lost} requests without times, or with times out of order, left out"] if lost else []
    return (*notes, *([f"{silent} requests got no token: waiting for it until they ended"] if silent else []))


def _files(spans: pl.DataFrame) -> tuple[Evidence, ...]:
    return tuple(Evidence(file) for file in spans["file"].unique(maintain_order=True)[:12])
