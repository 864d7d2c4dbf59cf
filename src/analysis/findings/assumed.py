"""What a study assumes: which of its figures rest on assumptions, and whether it is a reconstruction.

Some studies are written from figures that were published, because their raw files were not (docs/formats/study.md). A
[[figure]] of study.toml that is assumed lists the estimates it reaches: their values, only their intervals, or only the
wording of the reason that there is none; and the cells of tables that show what was read and is no estimate.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

import duckdb

from analysis.estimates.estimate import Estimate

Part = Literal["values", "intervals", "wording"]
PARTS: tuple[Part, ...] = ("values", "intervals", "wording")
SAID = {"values": "rests on assumed figures", "intervals": "its interval rests on assumed figures",
         "wording": "numbers in its reason rest on assumed figures"}  # fmt: skip
"""What is said of an estimate of which this part rests on assumptions."""
MOST = 8
"""Words of a pattern that are looked at."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumed figure: its name, why it is not known, and patterns of the estimates it reaches, by part.

    `readings` are patterns of cells that show it, or what was made of it, without an estimate.
    """

    key: str
    why: str
    reaches: Mapping[Part, tuple[str, ...]]
    readings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assumptions:
    """All that a study assumes; empty for a study of raw files."""

    all: tuple[Assumption, ...] = ()

    def of(self, estimate: Estimate) -> tuple[Part, tuple[Assumption, ...]] | None:
        """The worst part of an estimate that rests on assumptions, and on which; None where it rests on none."""
        for part in PARTS:
            found = tuple(a for a in self.all if any(matches(p, estimate) for p in a.reaches.get(part, ())))
            if found:
                return part, found
        return None

    def of_reading(self, table: str, column: str, row: Mapping[str, Any]) -> tuple[Assumption, ...]:
        """The assumed figures that this column of this row of the table of that name was made from."""
        return tuple(a for a in self.all if any(is_reading(p, table, column, row) for p in a.readings))

    def mark(self, estimate: Estimate) -> Estimate:
        """The estimate with a warning where it rests on assumptions."""
        found = self.of(estimate)
        if found is None:
            return estimate
        text = f"{SAID[found[0]]} ({', '.join(a.key for a in found[1])}: see study.toml)"
        return estimate if text in estimate.warnings else estimate.with_warnings(text)


def matches(pattern: str, estimate: Estimate) -> bool:
    """Whether "id key=value ..." names this estimate; the id may hold *, qualifiers not named are free."""
    id, *named = pattern.split()
    pairs = (part.partition("=") for part in named)
    return fnmatchcase(estimate.id, id) and all(estimate.qualifiers.get(key) == value for key, _, value in pairs)


def is_reading(pattern: str, table: str, column: str, row: Mapping[str, Any]) -> bool:
    """Whether "table column key=value ..." names this cell; columns and values as `plain` writes them."""
    name, of, *named = (*pattern.split()[:MOST], "", "")
    if (name, of) != (table, plain(column)):
        return False
    values = {plain(key): plain(str(value)) for key, value in row.items()}
    pairs = (part.partition("=") for part in named if part)
    return all(values.get(key) == value for key, _, value in pairs)


def plain(text: str) -> str:
    """A text as patterns have it: lower case, "-" for what is not a letter or digit: "need of one (MiB)"."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def assumptions(connection: duckdb.DuckDBPyConnection) -> Assumptions:
    """What the study.toml of a study says it assumes."""
    rows = connection.sql(
        r"""
        select regexp_extract(key, '^figure\[(\d+)\]\.(.+)$', ['n', 'field']) as part, value from study_facts
        where regexp_full_match(key, 'figure\[\d+\]\.(key|why|values|intervals|wording|readings)')
        order by file, line, key
        """
    ).fetchall()
    figures: dict[int, dict[str, Any]] = {}
    for part, value in rows:
        figures.setdefault(int(part["n"]), {})[part["field"]] = json.loads(value)
    return Assumptions(tuple(_assumption(figures[n]) for n in sorted(figures) if "why" in figures[n]))


def _assumption(fields: dict[str, Any]) -> Assumption:
    reaches = {part: tuple(p for p in _texts(fields.get(part)) if p.split()) for part in PARTS}
    readings = tuple(p for p in _texts(fields.get("readings")) if len(p.split()) > 1)
    return Assumption(str(fields.get("key", "a figure without a key")), str(fields["why"]), reaches, readings)


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def reconstruction(connection: duckdb.DuckDBPyConnection) -> str:
    """The sentence with which a study says that its files were written after the fact; empty for raw files."""
    query = "select value from study_facts where key = 'reconstruction' order by file limit 1"
    rows = connection.sql(query).fetchall()
    text = json.loads(rows[0][0]) if rows else ""
    return text if isinstance(text, str) else ""
