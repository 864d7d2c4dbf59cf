"""A study's files, opened safely: never outside the folder, never a device, bounded in size, decompressed and decoded."""

import gzip
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

MAX_FILE_BYTES = 4 << 30
"""Most bytes read of one file after decompression; what lies beyond is left and said so."""
MAX_LINE_CHARS = 1 << 20
"""A longer line is cut here; no engine or tool writes one."""
HEAD_BYTES = 1 << 16


class UnreadableFileError(Exception):
    """A file that cannot be read: the message is one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One regular file of a study directory.

    `path` is relative to the study, with forward slashes; it is the file's name everywhere (store, evidence, pages).
    """

    path: str
    absolute: Path
    size: int
    modified_at_s: float

    def open(self) -> io.BufferedReader:
        """Open for reading, decompressed if it is gzip or zstd by content (not by name)."""
        raw = self.absolute.open("rb")
        magic = raw.peek(4)[:4]
        if magic[:2] == b"\x1f\x8b":
            return io.BufferedReader(gzip.GzipFile(fileobj=raw))  # type: ignore[arg-type]
        if magic == b"\x28\xb5\x2f\xfd":
            return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))  # type: ignore[arg-type]
        return raw

    def head(self, size: int = HEAD_BYTES) -> str:
        """The first `size` bytes, decoded, for recognising the format."""
        with self.open() as stream:
            data = stream.read(size)
        return decode(data)

    def text(self, limit: int = MAX_FILE_BYTES) -> str:
        """The whole content, decoded; raises UnreadableFileError beyond `limit` bytes."""
        with self.open() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise UnreadableFileError(f"{self.path}: more than {limit:,} bytes; split the file")
        return decode(data)

    def lines(self, longest: int = MAX_LINE_CHARS) -> Iterator[tuple[int, str]]:
        """Line number (from 1) and text without its end, cut at `longest`. A carriage return alone does not end a line."""
        with self.open() as stream:
            encoding = _encoding(stream.peek(4)[:4])
            text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="\n")
            number = 0
            while line := text.readline(longest):
                number += 1
                yield number, line.rstrip("\r\n")
                while not line.endswith("\n") and (line := text.readline(MAX_LINE_CHARS)):
                    pass


def _encoding(start: bytes) -> str:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    return "utf-8-sig"


def decode(data: bytes) -> str:
    """Bytes to text by their byte order mark (UTF-16, UTF-8); invalid bytes become U+FFFD."""
    return data.decode(_encoding(data[:4]), errors="replace")


def walk(folder: Path) -> tuple[list[SourceFile], list[tuple[str, str]]]:
    """The regular files below `folder`, in natural order of their paths, and what was passed over with the reason.

    Symbolic links that leave the folder, FIFOs, sockets and devices are passed over; hidden files are not looked at.
    """
    root = folder.resolve()
    files: list[SourceFile] = []
    skipped: list[tuple[str, str]] = []
    for path in sorted(folder.rglob("*"), key=lambda p: natural_key(p.relative_to(folder).as_posix())):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in Path(name).parts):
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            skipped.append((name, "a symbolic link that leaves the folder; copy the file in"))
        elif path.is_dir():
            continue
        elif not path.is_file():
            skipped.append((name, "not a regular file; save its content as a file"))
        else:
            stat = path.stat()
            files.append(SourceFile(name, path, stat.st_size, stat.st_mtime))
    return files, skipped


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which t9 comes before t10: digit runs compare as numbers."""
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"(\d+)", name) if part]
