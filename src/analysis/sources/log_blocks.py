"""The few lines of a large log that may say something, found block by block at the speed of a multi-pattern search."""

import codecs
from collections.abc import Iterator, Sequence

import polars as pl

from analysis.sources.files import MAX_FILE_BYTES, MAX_LINE_CHARS, SourceFile

BLOCK_BYTES = 1 << 22


class Truncated(Exception):
    """The file is longer than is read; what came before this was read."""


def blocks(file: SourceFile) -> Iterator[tuple[list[str], bool]]:
    """Runs of whole lines, and whether the last of them ended in a newline. Never holds more than a block.

    A line beyond MAX_LINE_CHARS is cut. Raises Truncated after MAX_FILE_BYTES, which also bounds what a compressed
    file can expand to.
    """
    with file.open() as stream:
        start = stream.peek(4)[:2]
        name = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        decoder = codecs.getincrementaldecoder(name)(errors="replace")
        rest, taken = "", 0
        while data := stream.read(BLOCK_BYTES):
            taken += len(data)
            head, newline, tail = decoder.decode(data).rpartition("\n")
            if not newline:
                rest = (rest + tail)[:MAX_LINE_CHARS]
                continue
            yield (rest + head).split("\n"), True
            rest = tail[:MAX_LINE_CHARS]
            if taken > MAX_FILE_BYTES:
                raise Truncated
        if rest:
            yield [rest], False


def interesting(file: SourceFile, literals: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Line number (from 1), text, and whether it is complete, of each line that holds one of the literals."""
    number = 1
    wanted = list(literals)
    for lines, complete in blocks(file):
        hits = pl.Series(lines, dtype=pl.String).str.contains_any(wanted).arg_true().to_list()
        last = len(lines) - 1
        for index in hits:
            yield number + index, lines[index].rstrip("\r"), complete or index != last
        number += len(lines)


def every_line(file: SourceFile) -> Iterator[tuple[int, str, bool]]:
    """The same for all lines."""
    number = 1
    for lines, complete in blocks(file):
        last = len(lines) - 1
        for index, line in enumerate(lines):
            yield number + index, line.rstrip("\r"), complete or index != last
        number += len(lines)
