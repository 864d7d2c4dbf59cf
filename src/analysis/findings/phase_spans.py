"""When each phase of each boot ran, by its clients' clocks, and which scrapes and host samples lie in it."""

from dataclasses import dataclass

import duckdb

from analysis.findings.frames import rows

SPANS = """
    select boot, phase, min(start_s) as start_s, max(end_s) as end_s
    from class_requests where boot is not null and clock = 'unix' and is_completed and start_s is not null
    group by boot, phase order by boot, start_s, phase
"""


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of a boot, in unix seconds: from the first request sent to the last end."""

    boot: str
    phase: str
    start_s: float
    end_s: float


def spans(connection: duckdb.DuckDBPyConnection) -> list[Span]:
    """Every phase in which a request completed; phases overlap where clients overlapped."""
    table = rows(connection, SPANS).drop_nulls()
    return [Span(str(b), str(p), float(s), float(e)) for b, p, s, e in table.iter_rows()]
