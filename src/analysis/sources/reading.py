"""What a reader hands over: rows for the store's tables, and what it did not understand."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from analysis import redact

Row = dict[str, Any]
MAX_QUOTE = 400
"""Characters of a line that are kept as a quote."""


def cut(text: str) -> str:
    """A text of at most MAX_QUOTE characters, cut after a whole word."""
    return redact.cut(text, MAX_QUOTE)


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A line that looks like one we know but does not parse.

    `line` is the 1-based line of the (decompressed, decoded) file, `what` names what it seemed to be ("boot line:
    pool", "metric sample"), `text` is the line itself; readers `cut` it.
    """

    line: int
    what: str
    text: str


@dataclass(slots=True)
class Reading:
    """Everything one file yielded.

    `kind` is metrics, boot_log, requests, host, config or other; `format` is the reader's name for the exact shape
    ("prometheus-text", "vllm-bench-serve", ...). `tables` maps a table of store/schema.sql to rows with its column
    names, without the column `file`, which the loader fills in. `message` is set when the file was read in part only,
    and says what was left and what to do.
    """

    kind: str
    format: str
    tables: dict[str, list[Row]] = field(default_factory=dict)
    unparsed: list[Unparsed] = field(default_factory=list)
    message: str | None = None

    def add(self, table: str, **row: Any) -> None:
        """Append one row to a table."""
        self.tables.setdefault(table, []).append(row)


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection: rows have no cycles, and it would walk over all of them, again and again as they grow."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
