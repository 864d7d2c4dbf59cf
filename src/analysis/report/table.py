"""Tables: an accessible one in the page, the same numbers as CSV beside it.

A cell that shows an estimate leads to how it was obtained; one that rests on assumed figures is marked (marks.py).
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from math import floor, log10
from pathlib import Path
from typing import Any

import polars as pl

from analysis.charts.frames import Frame, tidy
from analysis.estimates.cells import LINKED, Shown, split
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import CENSUS_DIGITS, round_interval, show_in_column
from analysis.findings.assumed import Assumptions
from analysis.redact import redact
from analysis.report import marks
from analysis.report.answer import anchor
from analysis.report.marks import Mark, Row
from analysis.report.names import NUMBERS, checked_name

ROWS = 1_000
"""Most rows of a table in a page: nobody reads more, and a browser has to lay them out."""
NARROW_COLUMNS = 4
"""More columns than these do not fit a phone; a browser that knows what fits is asked instead (style.css)."""
PRINTED_PLACES = 2
"""Logs print GiB and seconds with two decimals."""
LINE, SHORT = 20, 36
"""Characters of a text that stays in one line, and of one that does where there is room; a longer one gets some."""
NAME = 16
"""Characters of a row's name that stays in one line on a narrow screen too."""
LONG, FIRST_WORDS = 80, 56
"""Characters of a text that is folded on a narrow screen, and about how many of it are shown there."""
NOTHING, NO_MARK = Assumptions(), Mark()
HOW, WHY_NOT = "how it was obtained", "why there is none"
_ENDS = ("value", "low", "high")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a text cell that starts with one of these


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table: `html` for the page; the CSV is written already."""

    name: str
    html: str

    def _repr_html_(self) -> str:
        return self.html


def table(frame: Frame, name: str, out: Path | None, caption: str, assumed: Assumptions = NOTHING) -> Table:
    """Show a frame as a table with the id `table-<name>`, and write tables/<name>.csv when `out` is given.

    `caption` says what a row is and the units. Every text is redacted and escaped; a wide table scrolls in its own box.
    With `out`, estimates in the frame (estimates/cells.py) are links: they must be recorded.
    """
    link = ""
    if out is not None:
        write_csv(frame, name, out, assumed)
        link = f'<p class="links"><a href="tables/{checked_name(name)}.csv" download>CSV</a></p>'
    shown = grid(frame, name, caption, assumed, linked=out is not None)
    return Table(name, f'<div class="table" id="table-{checked_name(name)}">{shown}{link}</div>')


def grid(frame: Frame, name: str, caption: str, assumed: Assumptions = NOTHING, *, linked: bool = False) -> str:
    """The bare HTML table in a box that scrolls by itself and can be reached by keyboard, and what its marks mean."""
    rows, cells, signs = _parts(frame, name, assumed)
    right = [dtype.is_numeric() for dtype in rows.dtypes]
    kinds = [' class="number"' if r else _class(column) for r, column in zip(right, rows, strict=True)]
    head = "".join(f'<th scope="col"{k}>{_shown(c)}</th>' for c, k in zip(rows.columns, kinds, strict=True))
    label = _shown(caption)
    # A text in the first column names its row, for a screen reader too.
    tags = ["td" if at or number else 'th scope="row"' for at, number in enumerate(right)]
    if tags and tags[0] != "td":
        kinds[0] = kinds[0].replace("short", f"short{_wrapping(rows.to_series(0))}")
    columns = list(zip(rows.columns, kinds, tags, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<{tag}{kind}>{_content(value, of.get(c) if linked else None, sign.get(c, NO_MARK))}</{tag[:2]}>"
            for value, (c, kind, tag) in zip(row, columns, strict=True)
        )
        + "</tr>\n"
        for row, of, sign in islice(zip(_rounded(rows, cells), cells, signs, strict=True), ROWS)
    )
    body = body or f'<tr><td class="none" colspan="{max(1, rows.width)}">none</td></tr>\n'
    many = " many" if rows.width > NARROW_COLUMNS else ""
    hint = f'<span class="hint{many}" aria-hidden="true">Scroll sideways: more columns →</span>' if rows.height else ""
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>'
        f"<caption><span>{label}</span>{hint}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
        f"{_left_out(rows.height, linked)}{marks.legend(signs)}"
    )


def _left_out(height: int, has_csv: bool) -> str:
    """What is said of a table that is too long for a page."""
    rest = "; the CSV has all" if has_csv else ""
    return f'<p class="marks">The first {ROWS:,} of {height:,} rows{rest}.</p>' if height > ROWS else ""


def _content(value: Any, of: Shown | None, mark: Mark) -> str:
    """What a cell holds: its text, as a link to how it was obtained where it shows a figure, and its mark."""
    text = _plain(value)
    if of is None or of.part not in LINKED:
        sign = f'<span class="mark" role="img" title="{mark.words}" aria-label="{mark.words}">{mark.sign}</span>'
        return _folded(text, sign if mark else "")
    sign = f'<span class="mark" title="{mark.words}">{mark.sign}</span>' if mark else ""
    figure, reason = _without_reason(text or "—")
    said = f"{figure}, {HOW if of.estimate.value is not None else WHY_NOT}" + (f"; {mark.words}" if mark else "")
    link = f'<a href="{NUMBERS}.html#{anchor(of.estimate)}" aria-label="{escape(said)}">{escape(figure)}{sign}</a>'
    return link + _folded(reason)


def _folded(text: str, sign: str = "") -> str:
    """A text and its sign; a long one so that a narrow screen shows its first words, and the rest when asked."""
    if len(text) <= LONG:
        return escape(text) + sign
    at = text.rfind(" ", 0, FIRST_WORDS) + 1 or FIRST_WORDS
    return f'<details class="fold"><summary>{sign}{escape(text[:at])}</summary>{escape(text[at:])}</details>'


def _without_reason(text: str) -> tuple[str, str]:
    """A figure, which is the link, and the reason that it has none or no interval, which stands beside it."""
    for lead in ("not computable", "no interval"):
        if text.startswith(f"{lead}: "):
            return lead, text.removeprefix(lead)
    figure, opened, reason = text.partition(" (no interval: ")
    return figure, opened + reason


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


def write_csv(frame: Frame, name: str, out: Path, assumed: Assumptions = NOTHING) -> Path:
    """Write tables/<name>.csv with all digits; texts that a spreadsheet would run get a leading quote.

    Texts have their marks; a last column says of each row what in it rests on assumptions, where any row has a mark.
    """
    rows, _, signs = _parts(frame, name, assumed)
    said, buffer = [marks.in_words(row) for row in signs], io.StringIO()
    writer, is_marked = csv.writer(buffer, lineterminator="\n"), any(said)
    writer.writerow([*map(_inert, rows.columns), *([marks.HEAD] if is_marked else [])])
    for row, sign, words in zip(rows.iter_rows(), signs, said, strict=True):
        marked = [
            f"{value}{sign[c].sign}" if isinstance(value, str) and c in sign else value
            for c, value in zip(rows.columns, row, strict=True)
        ]
        writer.writerow([*map(_inert, marked), *([words] if is_marked else [])])
    path = out / "tables" / f"{checked_name(name)}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(buffer.getvalue(), encoding="utf-8")
    return path


def _parts(frame: Frame, name: str, assumed: Assumptions) -> tuple[pl.DataFrame, list[dict[str, Shown]], list[Row]]:
    """The plain rows, and of each row the estimates and the marks of its cells."""
    plain, cells = split(frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame))
    rows = tidy(plain)
    return rows, cells, marks.of_rows(rows.iter_rows(named=True), cells, name, assumed)


def _rounded(rows: pl.DataFrame, cells: Iterable[Mapping[str, Shown]]) -> Iterator[tuple[Any, ...]]:
    """The rows, with decimals where a figure, a column or a row says how many.

    A cell that shows a figure's value has the digits that it has everywhere (estimates/rounding.py). Another column of
    at most two decimals, as logs print them, has as many in all rows. Where the columns value, low and high are no
    figure, they have the digits that such an interval carries.
    """
    floats = [i for i, dtype in enumerate(rows.dtypes) if dtype.is_float()]
    has = {i: max(map(_places, rows.to_series(i).drop_nulls()), default=0) for i in floats}
    printed = {i: places for i, places in has.items() if places <= PRINTED_PLACES}
    ends = [rows.columns.index(end) for end in _ENDS] if set(_ENDS) <= set(rows.columns) else []
    for row, of in zip(rows.iter_rows(), cells, strict=True):
        shown = {i: f"{row[i]:,.{places}f}" for i, places in printed.items() if row[i] is not None}
        if ends and all(isinstance(row[i], float) for i in ends):
            numbers = round_interval(*(row[i] for i in ends))
            shown |= {i: f"{number:,f}" for i, number in zip(ends, numbers, strict=True)}
        for i in floats:
            if (cell := of.get(rows.columns[i])) is not None and cell.part == "value":
                shown |= _figure(cell.estimate, row, i, rows.columns, of)
        yield tuple(shown.get(i, value) for i, value in enumerate(row))


def _figure(
    e: Estimate, row: Sequence[Any], at: int, columns: Sequence[str], of: Mapping[str, Shown]
) -> dict[int, str]:
    """The texts of a figure's value, and of its ends where they stand beside it, by column."""
    value, ends = row[at], []
    if columns[at] == "value":
        ends = [columns.index(end) for end in ("low", "high") if end in of and of[end].estimate is e]
    factor = value / e.value if value and e.value else 1.0
    low, high = (row[i] for i in ends) if len(ends) == 2 else (x and x * factor for x in (e.low, e.high))
    texts = zip((at, *ends), show_in_column(e, value, low, high), strict=False)
    return {i: text for i, text in texts if text is not None}


def _places(value: float) -> int:
    """How many decimals a number has, nine at most: 0.06 has two."""
    return len(f"{value:.9f}".rstrip("0").partition(".")[2])


def _class(column: pl.Series) -> str:
    """How a column of text is laid out: in one line where it is short, never crushed where it is longer."""
    longest = column.cast(pl.String).str.len_chars().max()
    if not isinstance(longest, int):  # nothing in it
        return ""
    return f' class="{"short" if longest <= LINE else "short text" if longest <= SHORT else "long"}"'


def _wrapping(column: pl.Series) -> str:
    """A further class for names of rows that would fill a narrow screen in one line."""
    return " wrap" if any(len(str(name)) > NAME for name in column) else ""


def _plain(value: Any) -> str:
    return redact(cell(value)).text if isinstance(value, str) else cell(value)


def _shown(value: Any) -> str:
    return escape(_plain(value))


def _inert(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = redact(value).text
    return f"'{text}" if text.startswith(_FORMULA) else text
