"""The few lines of a large log that may say something, found block by block at the speed of a multi-pattern search."""

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from analysis.sources.files import MAX_LINE_CHARS, SourceFile, encoding_of

BLOCK_BYTES = 1 << 22
MORE_LINES = 400
OPENING = ("{", "(", "[")


def blocks(file: SourceFile) -> Iterator[tuple[str, bool]]:
    """Runs of whole lines as one text, and whether the last of them ended in a newline. Never holds more than a block.

    A line beyond MAX_LINE_CHARS is cut, which `file.troubles` then says.
    """
    with file.open() as stream:
        decoder = codecs.getincrementaldecoder(encoding_of(stream.peek(4)[:4]))(errors="replace")
        rest = ""
        while data := stream.read(BLOCK_BYTES):
            head, newline, tail = decoder.decode(data).rpartition("\n")
            if newline:
                yield rest + head, True
                rest = ""
            rest += tail
            if len(rest) > MAX_LINE_CHARS:
                rest = rest[:MAX_LINE_CHARS]
                file.trouble(f"a line is longer than {MAX_LINE_CHARS:,} characters and was cut")
        if rest:
            yield rest, False


class Line(NamedTuple):
    """One line that may say something: its number from 1, its text, whether it ends in a newline.

    `only` is the one literal that such a line is about when a log repeats it endlessly, else None. `more` are the
    lines after one that ends in an opening bracket: a configuration printed over many lines.
    """

    number: int
    text: str
    complete: bool = True
    only: str | None = None
    more: tuple[str, ...] = ()


def interesting(file: SourceFile, literals: Sequence[str], repeated: Sequence[str]) -> Iterator[list[Line]]:
    """The lines that hold one of the literals, block by block; those with nothing but a `repeated` one are marked."""
    number = 1
    wanted = "|".join(map(re.escape, literals))  # faster here than contains_any, which builds another automaton
    rare = [literal for literal in literals if literal not in repeated]
    for text, complete in blocks(file):
        found = pl.Series([text]).str.split("\n").explode()
        hits = found.str.contains(wanted).arg_true()
        texts = found.gather(hits)
        marks = texts.str.extract_many(list(repeated)).list.first()
        plain = texts.str.contains_any(rare)
        last = len(found) - 1
        rows = zip(hits.to_list(), texts.to_list(), marks.to_list(), plain.to_list(), strict=True)
        yield [
            Line(
                number + index,
                line.rstrip("\r"),
                complete or index != last,
                None if is_plain else mark,
                tuple(found.slice(index + 1, MORE_LINES).to_list()) if line.rstrip().endswith(OPENING) else (),
            )
            for index, line, mark, is_plain in rows
        ]
        number += len(found)


def every_line(file: SourceFile) -> Iterator[Line]:
    """All lines, none of them marked."""
    number = 1
    for block, complete in blocks(file):
        lines = block.split("\n")
        last = len(lines) - 1
        for index, line in enumerate(lines):
            yield Line(number + index, line.rstrip("\r"), complete or index != last)
        number += len(lines)
