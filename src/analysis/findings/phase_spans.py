"""When each phase of each boot ran, by its clients' clocks, and which scrapes and host samples lie in it."""

from dataclasses import dataclass

import duckdb
import polars as pl

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


def phase_of(found: list[Span], start: pl.Expr, end: pl.Expr) -> pl.Expr:
    """The phase that an interval of a boot's time touches; null where it touches none, or more than one.

    What finishes inside an interval that touches one phase only was sent in that phase, or in none.
    """
    if not found:
        return pl.lit(None, pl.String)
    touched = [(pl.col("boot") == s.boot) & (end > s.start_s) & (start < s.end_s) for s in found]
    first = pl.coalesce(pl.when(touch).then(pl.lit(s.phase)) for touch, s in zip(touched, found, strict=True))
    return pl.when(pl.sum_horizontal(touched) == 1).then(first)
