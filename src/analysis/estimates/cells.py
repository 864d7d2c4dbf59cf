"""Cells of a table that show estimates: a frame of plain values, and with each row the estimates behind them.

A frame made here is a frame like any other: it can be sorted and filtered, drawn and written as CSV. One more column,
`SOURCES`, holds what each cell of the row shows; the page makes links and marks of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl
import polars.selectors as cs

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show

SOURCES = "what the cells show"
Part = Literal["figure", "value", "end", "input", "reason"]
LINKED = ("figure", "value")
"""What leads to the estimate's own block; an end or a reason stands in one row with a cell that does."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell that shows (a part of) an estimate, as the text or number `content`.

    `part` says which: the whole figure, its value alone, an end of its interval (or what that rests on: n, a method),
    values that it is made of ("input"), or the reason that it has no interval.
    """

    estimate: Estimate
    content: str | float | None
    part: Part = "figure"


def ends(estimate: Estimate, scale: float = 1.0) -> dict[str, Shown]:
    """The columns value, low and high of a row that is drawn, times `scale`."""
    parts: tuple[tuple[str, Part], ...] = (("value", "value"), ("low", "end"), ("high", "end"))
    numbers = {name: getattr(estimate, name) for name, _ in parts}
    return {
        name: Shown(estimate, None if numbers[name] is None else scale * numbers[name], part) for name, part in parts
    }


def basis(estimate: Estimate) -> dict[str, Shown]:
    """The columns n, n_of and method: what the interval rests on."""
    return {name: Shown(estimate, getattr(estimate, name), "end") for name in ("n", "n_of", "method")}


def reason(estimate: Estimate) -> Shown | None:
    """Why an estimate has no value or no interval; None where it says nothing."""
    return Shown(estimate, estimate.reason, "reason") if estimate.reason else None


def frame(rows: Iterable[Mapping[str, Any] | Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of rows (by name or in the order of `schema`) whose values may be plain, estimates or cells.

    An estimate is shown as `rounding.show` does; make a `Shown` of one that is shown otherwise.
    """
    given = [dict(row) if isinstance(row, Mapping) else dict(zip(schema, row, strict=True)) for row in rows]
    cells = [{name: c for name, value in row.items() if (c := _cell(value)) is not None} for row in given]
    plain = [
        {name: its[name].content if name in its else value for name, value in row.items()}
        for row, its in zip(given, cells, strict=True)
    ]
    made = pl.DataFrame(plain, schema=dict(schema))
    return made.with_columns(pl.Series(SOURCES, cells, dtype=pl.Object)) if any(cells) else made


def split(table: pl.DataFrame) -> tuple[pl.DataFrame, list[dict[str, Shown]]]:
    """The plain frame, and of each row what its cells show, by column."""
    cells = table[SOURCES].to_list() if SOURCES in table.columns else [{}] * table.height
    return table.drop(cs.by_dtype(pl.Object)), cells


def columns(*names: str) -> tuple[str | cs.Selector, ...]:
    """These columns, to select: and what their cells show, where anything is known of it."""
    return (*names, cs.by_name(SOURCES, require_all=False))


def _cell(value: Any) -> Shown | None:
    return value if isinstance(value, Shown) else Shown(value, show(value)) if isinstance(value, Estimate) else None
