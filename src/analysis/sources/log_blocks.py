"""The few lines of a large log that may say something: each block's lines are searched once a kind, numbers aside."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from analysis.sources.files import MAX_LINE_CHARS, SourceFile, encoding_of

BLOCK_BYTES = 1 << 22
"""Of a smaller block the calls cost more than the work (a quarter of it takes 1.3 times as long)."""
MORE_LINES = 400
RARE = -1
"""The mark of a line that needs a look in any case."""
_DIGITS = b"0123456789"
_NEWLINE = b"\n"


def blocks(file: SourceFile) -> Iterator[tuple[bytes, bool]]:
    """Runs of whole lines in UTF-8, and whether the last of them ended in a newline. Never holds more than a block.

    A line beyond MAX_LINE_CHARS is cut, which `file.troubles` then says. Where a file has no newline but at its very
    end, carriage returns end its lines; elsewhere what they part is one line, which a progress bar wrote over.
    """
    rest, by_returns = b"", False
    for at, data in enumerate(_pieces(file)):
        by_returns = _NEWLINE not in data[:-1] if at == 0 else by_returns
        text = data.replace(b"\r\n", _NEWLINE).replace(b"\r", _NEWLINE) if by_returns else data
        end = text.rfind(_NEWLINE) + 1
        if end:
            yield _valid(_bounded(b"".join((rest, memoryview(text)[: end - 1])), file)), True
            rest = b""
        rest = _short(rest + text[end:], file)
    if rest:
        yield _valid(rest), False


def _bounded(text: bytes, file: SourceFile) -> bytes:
    """The text with its lines cut that are too long."""
    start = 0
    while len(text) - start > MAX_LINE_CHARS:
        start = text.rfind(_NEWLINE, start, start + MAX_LINE_CHARS + 1) + 1
        if not start:
            return _NEWLINE.join(_short(line, file) for line in text.split(_NEWLINE))
    return text


def _short(line: bytes, file: SourceFile) -> bytes:
    if len(line) > MAX_LINE_CHARS and len(text := _valid(line).decode()) > MAX_LINE_CHARS:
        file.trouble(f"a line is longer than {MAX_LINE_CHARS:,} characters and was cut")
        return text[:MAX_LINE_CHARS].encode()
    return line


def _pieces(file: SourceFile) -> Iterator[bytes]:
    """The file from its beginning in UTF-8, whatever it is in; bytes that are not stay as they are."""
    with file.open() as stream:
        encoding = encoding_of(stream.peek(4)[:4])
        pieces = iter(lambda: stream.read(BLOCK_BYTES), b"")
        if encoding != "utf-8-sig":
            decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
            pieces = (decoder.decode(piece).encode() for piece in pieces)
        for at, piece in enumerate(pieces):
            yield piece if at else piece.removeprefix(codecs.BOM_UTF8)


def _valid(text: bytes) -> bytes:
    """The text with U+FFFD for what is not UTF-8."""
    return text if text.isascii() else text.decode(errors="replace").encode()


class Line(NamedTuple):
    """One line that may say something: its number from 1, its text, whether it ends in a newline.

    `after` gives the lines that follow, for a configuration that is printed over many.
    """

    number: int
    text: str
    complete: bool = True
    after: Callable[[], Iterable[str]] = tuple


Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a block that hold a literal, in order, as columns.

    A mark is the place in `repeated` of the one literal that a line is about when a log repeats it endlessly, else
    RARE. `kinds` are the block's distinct lines without their digits, and `kind` says which of them each line is.
    `places` count the block's `lines` from 0, whose first has the number `first`; `following` come after them.
    """

    first: int
    lines: pl.Series
    following: pl.Series
    complete: bool
    places: Numbers
    marks: np.ndarray[Any, np.dtype[np.int16]]
    texts: pl.Series
    kinds: pl.Series
    kind: Numbers

    def line(self, at: int) -> Line:
        """One of them, whole."""
        place, text = int(self.places[at]), self.texts[at].rstrip("\r\n")
        complete = self.complete or place != len(self.lines) - 1
        return Line(self.first + place, text, complete, partial(self._after, place))

    def _after(self, place: int) -> Iterator[str]:
        after = self.lines.slice(place + 1, MORE_LINES)
        for line in chain(after, self.following.head(MORE_LINES - len(after))):
            yield line.rstrip("\r\n")


def interesting(file: SourceFile, literals: Sequence[str], repeated: Sequence[str]) -> Iterator[Block]:
    """The lines that hold one of the literals, block by block; those with nothing but a `repeated` one are marked.

    A working engine prints the same few lines with other numbers, so literals are looked for in distinct lines without
    digits, and are without theirs: a line may be taken for one that holds a literal with other digits, and is read.
    """
    endless = [literal for literal in repeated if literal == numberless(literal)]
    wanted, rare, common = (
        _any_of(some) for some in (literals, [literal for literal in literals if literal not in endless], endless)
    )
    ends = pl.Series([], dtype=pl.String), b"", True
    first = 1
    for (lines, text, complete), (following, _, _) in pairwise(chain(_split(file), [ends])):
        kinds, kind = _kinds_of(text)
        places = np.flatnonzero(kinds.str.contains(wanted).to_numpy()[kind])
        kind = kind[places]
        marks = kinds.str.extract(f"({common})").replace_strict(
            endless, [repeated.index(literal) for literal in endless], default=RARE, return_dtype=pl.Int16
        ).to_numpy(writable=True)  # fmt: skip
        marks[kinds.str.contains(rare).to_numpy()] = RARE
        marks = marks[kind]
        if not complete:
            marks[places == len(lines) - 1] = RARE
        yield Block(first, lines, following, complete, places, marks, lines.gather(places), kinds, kind)
        first += len(lines)


def _split(file: SourceFile) -> Iterator[tuple[pl.Series, bytes, bool]]:
    return ((_series(_lines_of(text)), text, complete) for text, complete in blocks(file))


def _kinds_of(text: bytes) -> tuple[pl.Series, Numbers]:
    """The distinct lines of a text without their digits, and which of them each line is."""
    coded = _lines_of(text.translate(None, _DIGITS)).dictionary_encode()
    return _series(coded.dictionary), coded.indices.to_numpy().astype(np.int64)


def _lines_of(text: bytes) -> pa.StringArray:
    """The lines of a text, each with its newline: places in the text, which is not copied."""
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE[0])
    bounds = np.concatenate(([0], ends + 1, [len(text)])).astype(np.int32)
    return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(text))


def _series(column: pa.Array) -> pl.Series:
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series


def _any_of(literals: Sequence[str]) -> str:
    # Regular expressions are faster here than contains_any and extract_many, which build another automaton.
    return "|".join(re.escape(numberless(literal)) for literal in literals)


def numberless(text: str) -> str:
    """A text without its digits, as `Block.kinds` are."""
    return text.encode().translate(None, _DIGITS).decode()


def every_line(file: SourceFile) -> Iterator[Line]:
    """All lines, whatever they hold."""
    number = 1
    for block, complete in blocks(file):
        lines = block.decode().split("\n")
        last = len(lines) - 1
        for index, line in enumerate(lines):
            yield Line(number + index, line.rstrip("\r"), complete or index != last)
        number += len(lines)
