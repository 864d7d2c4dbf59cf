"""Tables: an accessible one in the page, the same numbers as CSV beside it."""

import csv
import io
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from analysis.charts.frames import Frame, tidy
from analysis.report.names import checked_name
from analysis.report.redact import redact

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
    kinds = [' class="number"' if r else "" for r in right]
    head = "".join(f'<th scope="col"{k}>{_shown(c)}</th>' for c, k in zip(rows.columns, kinds, strict=True))
    label = _shown(caption)
    # A text in the first column names its row, for a screen reader too.
    tags = ["td" if at or number else 'th scope="row"' for at, number in enumerate(right)]
    body = "".join(
        "<tr>" + "".join(f"<{t}{k}>{_shown(v)}</{t[:2]}>" for v, k, t in zip(row, kinds, tags, strict=True)) + "</tr>\n"
        for row in rows.iter_rows()
    )
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table>'
        f"<caption>{label}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def cell(value: Any) -> str:
    """A value as a cell shows it: an em dash for what is missing, digits in groups, six significant at most."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,.6g}"
    return str(value)


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


def _shown(value: Any) -> str:
    return escape(redact(cell(value)).text if isinstance(value, str) else cell(value))


def _inert(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    text = redact(value).text
    return f"'{text}" if text.startswith(_FORMULA) else text
