"""Marks on cells that rest on assumed figures: a sign in the cell, and under the table what it means."""

from collections.abc import Iterable, Mapping
from html import escape

from analysis.estimates.cells import Part as CellPart
from analysis.estimates.cells import Shown
from analysis.findings.assumed import SAID, Assumptions, Part
from analysis.redact import redact

SIGN: Mapping[Part, str] = {"values": "†", "intervals": "‡", "wording": "§"}
HEAD = "† rests on assumed figures"
"""The column of a CSV that names what is marked in a row."""
REACHES: Mapping[CellPart, tuple[Part, ...]] = {
    "figure": ("values", "intervals", "wording"), "value": ("values",), "end": ("values", "intervals"),
    "input": ("values",), "reason": ("values", "intervals", "wording"),
}  # fmt: skip
"""Which assumed parts of an estimate a cell shows; what rests on an assumption in its value does so in its interval."""


def of(cell: Shown, assumed: Assumptions) -> tuple[str, str]:
    """The sign of a cell and what it means in words; both empty where what the cell shows rests on no assumption."""
    found = assumed.of(cell.estimate)
    if found is None or found[0] not in REACHES[cell.part]:
        return "", ""
    return SIGN[found[0]], SAID[found[0]]


def legend(cells: Iterable[Mapping[str, Shown]], assumed: Assumptions) -> str:
    """The line under a table that says what the marks in it mean and which figures are assumed; empty without marks."""
    marked = [c for row in cells for c in row.values() if of(c, assumed)[0]]
    if not marked:
        return ""
    meanings = dict(sorted({of(c, assumed) for c in marked}))
    keys = ", ".join(dict.fromkeys(a.key for c in marked for a in (assumed.of(c.estimate) or ("", ()))[1]))
    said = "; ".join(f"{sign} {words}" for sign, words in meanings.items())
    return f'<p class="marks">{escape(redact(f"{said}. Assumed: {keys} (study.toml)").text)}.</p>'


def in_words(row: Mapping[str, Shown], assumed: Assumptions) -> str:
    """The columns of a row that are marked; and what of them is, where it is not the value: "ratio (its interval)"."""
    found = {column: of(cell, assumed)[1] for column, cell in row.items()}
    beside = {SAID["values"]: "", SAID["intervals"]: " (its interval)", SAID["wording"]: " (numbers in its reason)"}
    return "; ".join(f"{column}{beside[words]}" for column, words in found.items() if words)
