"""What the engines print: the tables `engines/<engine>/boot_lines.toml`, checked and compiled.

A table has one `[[line]]` for each shape of line and one `[resolve]` with, for each column of `boots`, the facts that
state it, best first. The keys of a `[[line]]`:

    id         name of the shape; lines that say the same thing share it
    purpose    one of PURPOSES
    key, keys  literal text at which the shape begins; a line that has it and does not go on as `rest` says is unparsed
    rest       regular expression that must match right after the key. Each named group is a fact. {N} is an integer
               with or without separators, {F} a decimal number, {V} a version
    units      unit of each group that is a number; a group without one is text
    settings   prefix of the facts in the printed configuration that follows ("arg" gives arg.max_model_len)
    needs      literal text that must be somewhere in the line (for keys that are too common alone)
    optional   true: the key also occurs in other text, so a line that does not go on as `rest` says is nothing
    once       true: only the first of a boot is kept
    closes     true: nothing of the same boot can follow
    trial      true: what was said before it and is said again after it was said of a trial run
    means      of a fallback: what it is that runs, in words for a reader (required there)
    since, until, source   versions that print it, and where it was seen

Every pattern is matched once, at its key, with bounded repeats: time is linear in the line.
"""

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

PURPOSES = frozenset(
    (
        *("start", "setting", "memory", "pool", "phase", "ready", "serving", "step"),
        *("refusal", "crash", "traceback", "shutdown", "fallback"),
    )
)
UNITS = frozenset(("1", "%", "s", "ms", "tokens", "bytes", "MiB", "GiB", "GB"))
PLACEHOLDERS = {
    "{N}": r"(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,18})(?![\d,]{0,40}\d)",
    "{F}": r"-?\d{1,18}(?:\.\d{1,18})?(?![\d])",
    "{V}": r"\d[\w.+\-]{0,79}",
}


@dataclass(frozen=True, slots=True)
class BootLine:
    """One shape of line of one engine. `engine` is empty for what any engine's process may print.

    `rest_text` is `rest` as the table has it, for engines of regular expressions without lookahead.
    """

    engine: str
    id: str
    purpose: str
    keys: tuple[str, ...]
    rest: re.Pattern[str]
    rest_text: str
    units: dict[str, str] = field(default_factory=dict)
    settings: str | None = None
    needs: str | None = None
    optional: bool = False
    once: bool = False
    closes: bool = False
    trial: bool = False
    means: str = ""

    @property
    def literals(self) -> tuple[str, ...]:
        """Text of which one must be in a line of this shape."""
        return (self.needs,) if self.needs else self.keys


@dataclass(frozen=True, slots=True)
class BootTables:
    """All tables: the lines of every engine, and which facts state which column, by engine."""

    lines: tuple[BootLine, ...]
    resolve: dict[str, dict[str, Any]]


@cache
def load(folder: Path = Path(__file__).parent) -> BootTables:
    """Read and check `<folder>/*/boot_lines.toml`. Raises ValueError that names the table and line which is wrong."""
    lines: list[BootLine] = []
    resolve: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*/boot_lines.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        resolve[table["engine"]] = table["resolve"]
        for entry in table["line"]:
            try:
                lines.append(_line(table["engine"], dict(entry)))
            except (KeyError, TypeError, ValueError, re.error) as error:
                raise ValueError(f"{path.parent.name}/boot_lines.toml, line {entry.get('id')!r}: {error}") from error
    return BootTables(tuple(lines), resolve)


def _line(engine: str, entry: dict[str, Any]) -> BootLine:
    rest_text = rest = entry.pop("rest", "")
    for placeholder, pattern in PLACEHOLDERS.items():
        rest = rest.replace(placeholder, pattern)
    keys = tuple(entry.pop("keys", ())) or (entry.pop("key"),)
    for documentation in ("since", "until", "source"):
        entry.pop(documentation, None)
    line = BootLine(engine=engine, keys=keys, rest=re.compile(rest, re.ASCII), rest_text=rest_text, **entry)
    if line.purpose not in PURPOSES:
        raise ValueError(f"unknown purpose {line.purpose!r}")
    if (line.purpose == "fallback") != bool(line.means):
        raise ValueError("a fallback says what it means, and nothing else does")
    if strange := set(line.units) - set(line.rest.groupindex):
        raise ValueError(f"units of groups that do not exist: {sorted(strange)}")
    if strange := set(line.units.values()) - UNITS:
        raise ValueError(f"unknown units: {sorted(strange)}")
    return line
