"""Marks on cells that rest on assumed figures: a sign in the cell, and under the table what it means.

A cell that shows no number ("not known") rests on none, unless it says which units or method an interval has.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from analysis.estimates.cells import Part as CellPart
from analysis.estimates.cells import Shown
from analysis.findings.assumed import SAID, Assumption, Assumptions, Part
from analysis.redact import redact

SIGN: Mapping[Part, str] = {"values": "†", "intervals": "‡", "wording": "§"}
BESIDE: Mapping[Part, str] = {"values": "", "intervals": " (its interval)", "wording": " (numbers in its reason)"}
HEAD = "† rests on assumed figures"
"""The column of a CSV that names what is marked in a row."""
REACHES: Mapping[CellPart, tuple[Part, ...]] = {
    "figure": ("values", "intervals", "wording"), "value": ("values",), "end": ("values", "intervals"),
    "input": ("values",), "reason": ("values", "intervals", "wording"),
}  # fmt: skip
"""Which assumed parts of an estimate a cell shows; what rests on an assumption in its value does so in its interval."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What is assumed of a cell, and which figures are; false where nothing is."""

    part: Part | None = None
    assumed: tuple[Assumption, ...] = ()

    def __bool__(self) -> bool:
        return self.part is not None

    @property
    def sign(self) -> str:
        """The sign in the cell; empty where there is no mark."""
        return SIGN[self.part] if self.part else ""

    @property
    def words(self) -> str:
        """What it means."""
        return SAID[self.part] if self.part else ""


Row = Mapping[str, Mark]


def of_rows(
    rows: Iterable[Mapping[str, Any]], cells: Iterable[Mapping[str, Shown]], name: str, assumed: Assumptions
) -> list[Row]:
    """The marks of each row of the table of this name, by column; `cells` are the estimates that its rows show."""
    if not assumed.all:
        return [{} for _ in cells]
    found: list[Row] = []
    for row, its in zip(rows, cells, strict=True):
        marks = {c: _of_shown(its[c], assumed) if c in its else Mark() for c in row}
        found.append({c: mark or _of_reading(name, c, row, assumed) for c, mark in marks.items()})
    return found


def _of_shown(cell: Shown, assumed: Assumptions) -> Mark:
    found = assumed.of(cell.estimate)
    has_number = cell.part == "end" or re.search(r"\d", str(cell.content)) is not None
    return Mark(*found) if found and found[0] in REACHES[cell.part] and has_number else Mark()


def _of_reading(name: str, column: str, row: Mapping[str, Any], assumed: Assumptions) -> Mark:
    found = assumed.of_reading(name, column, row)
    return Mark("values", found) if found else Mark()


def legend(marks: Iterable[Row]) -> str:
    """The line under a table that says what its marks mean and which figures are assumed; empty without marks."""
    found = [mark for row in marks for mark in row.values() if mark]
    if not found:
        return ""
    meanings = sorted({f"{mark.sign} {mark.words}" for mark in found})
    keys = ", ".join(dict.fromkeys(a.key for mark in found for a in mark.assumed))
    said = f"{'; '.join(meanings)}. Assumed: {keys} (study.toml)."
    return f'<p class="marks">{escape(redact(said).text)}</p>'


def in_words(row: Row) -> str:
    """The columns of a row that are marked; and what of them is, where it is not the value: "ratio (its interval)"."""
    return "; ".join(f"{column}{BESIDE[mark.part]}" for column, mark in row.items() if mark.part)
