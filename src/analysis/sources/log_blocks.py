"""The few lines of a large log that may say something, found block by block at the speed of a multi-pattern search."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from analysis.sources.files import MAX_LINE_CHARS, SourceFile, encoding_of

BLOCK_BYTES = 1 << 20
"""A block and what is made of it stay in the processor's cache; a smaller one builds the automaton too often."""
MORE_LINES = 400
OPENING = ("{", "(", "[")
RARE = -1
"""The mark of a line that needs a look in any case."""


def blocks(file: SourceFile) -> Iterator[tuple[str, bool]]:
    """Runs of whole lines as one text, and whether the last of them ended in a newline. Never holds more than a block.

    A line beyond MAX_LINE_CHARS is cut, which `file.troubles` then says. Where a file has no newline but at its very
    end, carriage returns end its lines; elsewhere what they part is one line, which a progress bar wrote over.
    """
    with file.open() as stream:
        decoder = codecs.getincrementaldecoder(encoding_of(stream.peek(4)[:4]))(errors="replace")
        rest, by_returns = "", False
        for at, data in enumerate(iter(lambda: stream.read(BLOCK_BYTES), b"")):
            text = decoder.decode(data)
            by_returns = "\n" not in text[:-1] if at == 0 else by_returns
            head, newline, tail = (text.replace("\r", "\n") if by_returns else text).rpartition("\n")
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

    `more` are the lines after one that ends in an opening bracket: a configuration printed over many lines.
    """

    number: int
    text: str
    complete: bool = True
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a block that hold a literal, in order, as columns.

    A mark is the place in `repeated` of the one literal that a line is about when a log repeats it endlessly, else
    RARE. `places` count the block's `lines` from 0, whose first has the number `first`; `following` come after them.
    """

    first: int
    lines: pl.Series
    following: pl.Series
    complete: bool
    places: np.ndarray[Any, np.dtype[np.int64]]
    marks: np.ndarray[Any, np.dtype[np.int16]]
    texts: pl.Series

    def line(self, at: int) -> Line:
        """One of them, whole."""
        place, text = int(self.places[at]), self.texts[at].rstrip("\r")
        more: tuple[str, ...] = ()
        if text.rstrip().endswith(OPENING):
            after = self.lines.slice(place + 1, MORE_LINES)
            more = (*after, *self.following.head(MORE_LINES - len(after)))
        return Line(self.first + place, text, self.complete or place != len(self.lines) - 1, more)


def interesting(file: SourceFile, literals: Sequence[str], repeated: Sequence[str]) -> Iterator[Block]:
    """The lines that hold one of the literals, block by block; those with nothing but a `repeated` one are marked."""
    # Regular expressions are faster here than contains_any and extract_many, which build another automaton.
    wanted, rare, common = (
        "|".join(map(re.escape, some)) for some in (literals, [s for s in literals if s not in repeated], repeated)
    )
    split = ((pl.Series([text]).str.split("\n").explode(), complete) for text, complete in blocks(file))
    end = pl.Series([], dtype=pl.String), True
    first = 1
    for (lines, complete), (following, _) in pairwise(chain(split, [end])):
        places = np.flatnonzero(lines.str.contains(wanted).to_numpy())
        texts = lines.gather(places)
        named = texts.str.extract(f"({common})").cast(pl.Enum(list(repeated)))
        marks = named.to_physical().cast(pl.Int16).fill_null(RARE).to_numpy(writable=True)
        marks[texts.str.contains(rare).to_numpy()] = RARE
        if not complete:
            marks[places == len(lines) - 1] = RARE
        yield Block(first, lines, following, complete, places, marks, texts)
        first += len(lines)


def every_line(file: SourceFile) -> Iterator[Line]:
    """All lines, whatever they hold."""
    number = 1
    for block, complete in blocks(file):
        lines = block.split("\n")
        last = len(lines) - 1
        for index, line in enumerate(lines):
            yield Line(number + index, line.rstrip("\r"), complete or index != last)
        number += len(lines)
