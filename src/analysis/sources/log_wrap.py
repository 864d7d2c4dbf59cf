"""Logs pasted from a terminal or a narrow text: one record broken over several lines, at blanks or inside words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from analysis.sources.log_blocks import Line
from analysis.sources.log_lines import unwrap

MAX_WIDTH = 260
"""Engines print lines longer than this in every boot, so only a text without any may be wrapped."""
MAX_RECORD = 1 << 14
_RECORD = re.compile(
    r"\s*(?:\([A-Za-z][\w\-]* (?:rank=\d+ )?pid=\d+|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[ :]"
    r"|\[?\d{4}-\d\d-\d\d[T ]|\d+\.\d\d\.\d{3}\.\d{3} )"
)


@dataclass(frozen=True, slots=True)
class Wrap:
    """How a text is wrapped: the width, and what goes between two parts of a record (a blank, or nothing)."""

    width: int
    joiner: str


def detect(head: str) -> Wrap | None:
    """How the text is wrapped, or None: records must be continued, each time because the line was full."""
    lines = [line.rstrip("\r") for line in head.split("\n")][:-1]
    width = max(map(len, lines), default=0)
    if width > MAX_WIDTH or width < 40:
        return None
    pairs = [(a, b) for a, b in pairwise(lines) if b.strip() and not _begins(b) and a.strip()]
    if len(pairs) < 3:
        return None
    for joiner, full in (("", _full_inside_word), (" ", _full_at_blank)):
        if sum(full(a, b, width) for a, b in pairs) >= max(3, 0.8 * len(pairs)):
            return Wrap(width, joiner)
    return None


def _begins(line: str) -> bool:
    """Whether a record begins here; a line with a border of its own was cut, not wrapped."""
    return line[:1] in "│┃║" or any(_RECORD.match(piece.text) for piece in unwrap(line))


def _full_inside_word(line: str, following: str, width: int) -> bool:
    return len(line) == width


def _full_at_blank(line: str, following: str, width: int) -> bool:
    return len(line) + 1 + len(following.split(" ", 1)[0]) > width


def join(lines: Iterable[Line], wrap: Wrap) -> Iterator[Line]:
    """Whole records, each with the number of its first line, from the parts of a wrapped text."""
    full = _full_at_blank if wrap.joiner else _full_inside_word
    record, last = Line(0, ""), ""
    for line in lines:
        continues = record.text and line.text.strip() and not _begins(line.text) and full(last, line.text, wrap.width)
        if continues and len(record.text) < MAX_RECORD:
            record = Line(record.number, record.text + wrap.joiner + line.text, line.complete)
        else:
            if record.text:
                yield record
            record = line
        last = line.text
    if record.text:
        yield record
