"""The table of figures in a study.toml: each is published (and where), or assumed (why, and over which range)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


class FiguresError(Exception):
    """A table that cannot be used: the message is one sentence and names the figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: `published` with the id of what published it, or assumed with `why` and the range it may lie in."""

    key: str
    value: float
    published: str | None = None
    why: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a study, by key."""

    table: Mapping[str, Figure]

    def __getitem__(self, key: str) -> float:
        """The value of a figure. Raises FiguresError when the table does not hold it."""
        if key not in self.table:
            raise FiguresError(f"the table has no figure {key!r}; add it as [[figure]] to study.toml")
        return self.table[key].value

    def count(self, key: str) -> int:
        """A figure that counts something."""
        return round(self[key])

    def assumed(self) -> list[Figure]:
        """The figures that were not published."""
        return [figure for figure in self.table.values() if figure.published is None]

    def with_assumed(self, **values: float) -> "Figures":
        """The same table with other values of assumed figures; each must lie in its range."""
        changed = dict(self.table)
        for key, value in values.items():
            figure = changed[key]
            if figure.low is None or figure.high is None or not figure.low <= value <= figure.high:
                raise FiguresError(f"{key} = {value} is not in the range that the table gives it")
            changed[key] = replace(figure, value=value)
        return Figures(changed)


def read(study: Path) -> Figures:
    """The figures of the study.toml in a folder. Raises FiguresError with one sentence for a broken table."""
    try:
        rows = tomllib.loads((study / "study.toml").read_text(encoding="utf-8")).get("figure", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FiguresError(f"{study.name}/study.toml cannot be read: {error}") from None
    if not isinstance(rows, list) or not rows:
        raise FiguresError(f"{study.name}/study.toml has no [[figure]]: there is nothing to write files from")
    table = {figure.key: figure for figure in map(_figure, rows)}
    if len(table) < len(rows):
        raise FiguresError(f"{study.name}/study.toml names a figure twice")
    return Figures(table)


def _figure(row: Any) -> Figure:
    key = row.get("key") if isinstance(row, dict) else None
    numbers = {name: row.get(name) for name in ("value", "low", "high")} if isinstance(row, dict) else {}
    if not isinstance(key, str) or not isinstance(numbers["value"], int | float):
        raise FiguresError(f"a [[figure]] needs a key and a number as value; this one has {row!r}"[:300])
    if row.get("published"):
        return Figure(key, float(row["value"]), published=str(row["published"]))
    low, high = numbers["low"], numbers["high"]
    if not row.get("why") or not isinstance(low, int | float) or not isinstance(high, int | float):
        raise FiguresError(f"figure {key} is not published, so it needs why, low and high")
    if not low <= row["value"] <= high:
        raise FiguresError(f"figure {key} lies outside its own range")
    return Figure(key, float(row["value"]), None, str(row["why"]), float(low), float(high))
