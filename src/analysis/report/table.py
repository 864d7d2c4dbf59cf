"""Tables: an accessible one in the page, the same numbers as CSV beside it."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import floor, log10
from pathlib import Path
from typing import Any

import polars as pl

from analysis.charts.frames import Frame, tidy
from analysis.estimates.rounding import CENSUS_DIGITS, round_interval
from analysis.redact import redact
from analysis.report.names import checked_name

NARROW_COLUMNS = 4
"""More columns than these do not fit a phone: the table says that it scrolls."""
PRINTED_PLACES = 2
"""Logs print GiB and seconds with two decimals."""
SHORT = 36
"""Characters of a text that stays in one line; a column with a longer one gets room to wrap."""
_ENDS = ("value", "low", "high")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a text cell that starts with one of these


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table: `html` for the page; the CSV is written already."""

    name: str
    html: str

    def _repr_html_(self) -> str:
        return self.html


def table(frame: Frame, name: str, out: Path | None, caption: str) -> Table:
    """Show a frame as a table with the id `table-<name>`, and write tables/<name>.csv when `out` is given.

    `caption` says what a row is and the units. Every text is redacted and escaped; a wide table scrolls in its own box.
    """
    rows = tidy(frame)
    link = ""
    if out is not None:
        write_csv(frame, name, out)
        link = f'<p class="links"><a href="tables/{checked_name(name)}.csv" download>CSV</a></p>'
    html = f'<div class="table" id="table-{checked_name(name)}">{grid(rows, caption)}{link}</div>'
    return Table(name, html)


def grid(frame: Frame, caption: str) -> str:
    """The bare HTML table in a box that scrolls by itself and can be reached by keyboard."""
    rows = tidy(frame)
    right = [dtype.is_numeric() for dtype in rows.dtypes]
    kinds = [' class="number"' if r else _class(column) for r, column in zip(right, rows, strict=True)]
    head = "".join(f'<th scope="col"{k}>{_shown(c)}</th>' for c, k in zip(rows.columns, kinds, strict=True))
    label = _shown(caption)
    # A text in the first column names its row, for a screen reader too.
    tags = ["td" if at or number else 'th scope="row"' for at, number in enumerate(right)]
    body = "".join(
        "<tr>" + "".join(f"<{t}{k}>{_shown(v)}</{t[:2]}>" for v, k, t in zip(row, kinds, tags, strict=True)) + "</tr>\n"
        for row in _rounded(rows)
    )
    body = body or f'<tr><td class="none" colspan="{max(1, rows.width)}">none</td></tr>\n'
    hint = '<p class="hint" aria-hidden="true">Scroll sideways: more columns →</p>' if _is_wide(rows) else ""
    return (
        f'{hint}<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>'
        f"<caption><span>{label}</span></caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def cell(value: Any) -> str:
    """A value as a cell shows it: an em dash for what is missing, digits in groups, three significant or all whole."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _decimal(value)
    return str(value)


def _decimal(value: float) -> str:
    if 0 < abs(value) < 1e-6:
        return f"{value:.{CENSUS_DIGITS}g}"
    places = max(0, CENSUS_DIGITS - 1 - floor(log10(abs(value)))) if value else 0
    return f"{value:,.{min(places, _places(value))}f}"


def write_csv(frame: Frame, name: str, out: Path) -> Path:
    """Write tables/<name>.csv with all digits; texts that a spreadsheet would run get a leading quote."""
    rows, buffer = tidy(frame), io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_inert(c) for c in rows.columns])
    writer.writerows([_inert(v) for v in row] for row in rows.iter_rows())
    path = out / "tables" / f"{checked_name(name)}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(buffer.getvalue(), encoding="utf-8")
    return path


def _is_wide(rows: pl.DataFrame) -> bool:
    return rows.width > NARROW_COLUMNS and not rows.is_empty()


def _rounded(rows: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """The rows, with decimals where a column or a row says how many.

    A column of at most two decimals, as logs print them, has as many in all rows. Where the columns value, low and
    high are an estimate, they have the digits that its interval carries.
    """
    floats = [i for i, dtype in enumerate(rows.dtypes) if dtype.is_float()]
    has = {i: max(map(_places, rows.to_series(i).drop_nulls()), default=0) for i in floats}
    printed = {i: places for i, places in has.items() if places <= PRINTED_PLACES}
    ends = [rows.columns.index(end) for end in _ENDS] if set(_ENDS) <= set(rows.columns) else []
    for row in rows.iter_rows():
        shown = {i: f"{row[i]:,.{places}f}" for i, places in printed.items() if row[i] is not None}
        if ends and all(isinstance(row[i], float) for i in ends):
            numbers = round_interval(*(row[i] for i in ends))
            shown |= {i: f"{number:,f}" for i, number in zip(ends, numbers, strict=True)}
        yield tuple(shown.get(i, value) for i, value in enumerate(row))


def _places(value: float) -> int:
    """How many decimals a number has, nine at most: 0.06 has two."""
    return len(f"{value:.9f}".rstrip("0").partition(".")[2])


def _class(column: pl.Series) -> str:
    """How a column of text is laid out: in one line where it is short, never crushed where it is long."""
    longest = column.cast(pl.String).str.len_chars().max()
    if not isinstance(longest, int):  # nothing in it
        return ""
    return ' class="short"' if longest <= SHORT else ' class="long"'


def _shown(value: Any) -> str:
    return escape(redact(cell(value)).text if isinstance(value, str) else cell(value))


def _inert(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = redact(value).text
    return f"'{text}" if text.startswith(_FORMULA) else text
