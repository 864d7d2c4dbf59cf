"""What prefill holds up: the share of request-seconds spent in one's own prefill or waiting for somebody else's.

Where requests overlap, this and not the prefill share of request-seconds is what a free prefill would spare.
"""

from dataclasses import replace

import duckdb

from analysis.estimates.estimate import Estimate
from analysis.estimates.step_time import held_share
from analysis.estimates.trace_step_time import held_share_from_traces
from analysis.findings import step_time
from analysis.findings.lengths import FINDING
from analysis.findings.wall_states import CAUTION, GAPS, files_of, notes_of, spans_by_place

HELD = "time.prefill_held_share"
BY_LOG = "step log: each request of each step"
BY_CLIENTS = "clients: gaps between tokens beside a prefill"


def shares(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """time.prefill_held_share by place: from the step log where the boot has one, else from gaps between tokens."""
    logs = set(step_time.logged(connection))
    found = []
    for (place, boot), spans in spans_by_place(connection):
        if boot in logs:
            continue
        placed = spans.filter("is_placed")
        times = (placed["sent_s"], placed["first_s"].fill_null(placed["end_s"]), placed["end_s"])
        gaps = connection.sql(GAPS, params={"place": place}).pl()
        columns = (column.to_numpy() for column in (*times, gaps["start_s"], gaps["stop_s"]))
        said = replace(held_share_from_traces(*columns), picked=BY_CLIENTS)
        names = {"boot": boot} if boot else {"target": place}
        found.append(
            said.with_warnings(CAUTION, *notes_of(spans)).with_evidence(*files_of(spans)).named(HELD, FINDING, **names)
        )
    for boot in sorted(logs):
        of_boot = step_time.steps(connection, boot)
        columns = (of_boot[c].to_numpy() for c in ("elapsed_s", "context_requests", "generation_requests", "engine"))
        said = replace(held_share(*columns), picked=BY_LOG)
        found.append(said.with_evidence(*step_time.ends_of_log(of_boot)).named(HELD, FINDING, boot=boot))
    return found
