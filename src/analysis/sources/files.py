"""A study's files, opened safely: inside the folder, never a device, bounded in size, decompressed and decoded."""

import hashlib
import io
import os
import re
import stat as stat_module
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from analysis.sources.streams import GzipMembers, ZstdFrames, bounded

MAX_FILE_BYTES = 4 << 30
"""Most bytes read of one file after decompression; what lies beyond is left and said so."""
MAX_LINE_CHARS = 1 << 20
"""A longer line is cut here; no engine or tool writes one."""
MAX_LINES = 20_000_000
"""Most lines read of one file: millions of empty lines would cost hours."""
MAX_EXPANSION = 250
"""Most bytes a compressed byte may become (beyond FREE_EXPANSION_BYTES); telemetry text reaches 10 to 100."""
FREE_EXPANSION_BYTES = 64 << 20
MAX_FILES = 400_000
"""Most files of one study (1.3 kB of memory each); a larger one is exported once, or left to a server."""
HEAD_BYTES = 1 << 16
HELD_BYTES = 1 << 22
"""A file up to this size is read from the disk once."""

T = TypeVar("T")

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class UnreadableFileError(Exception):
    """A file that cannot be read: the message is one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One regular file of a study directory.

    `path` is relative to the study, with forward slashes; it is the file's name everywhere (store, evidence, pages).
    `troubles` collects, while the file is read, what was left of it and why, one sentence each.
    """

    path: str
    absolute: Path
    size: int
    modified_at_s: float
    troubles: list[str] = field(default_factory=list, compare=False)
    content: bytes | None = field(default=None, repr=False, compare=False)
    """All of a small file, packed as it is, where it has been read already."""

    def open(self) -> io.BufferedReader:
        """Open for reading, decompressed if it is gzip or zstd by content (not by name).

        The stream ends early, with a sentence in `troubles`, where the file is damaged or grows beyond the limits.
        Raises UnreadableFileError when the file cannot be opened or is no longer a regular file.
        """
        raw = self._opened() if self.content is None else _stream(self.content)
        magic = _peek(raw, 4)
        if magic[:2] == _GZIP:
            return bounded(GzipMembers(raw), self._most_bytes(), self.trouble)
        if magic == _ZSTD:
            return bounded(ZstdFrames(raw), self._most_bytes(), self.trouble)
        return raw if self.content is not None else bounded(raw, MAX_FILE_BYTES, self.trouble)

    def _opened(self) -> io.BufferedReader:
        return os.fdopen(self._descriptor(), "rb")

    def _descriptor(self) -> int:
        try:
            # Non-blocking, and checked once open: the path may have become a FIFO since the walk.
            descriptor = os.open(self.absolute, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise UnreadableFileError(
                f"{self.path}: cannot be opened ({(error.strerror or '').lower()}); check its rights"
            ) from None
        if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise UnreadableFileError(f"{self.path}: not a regular file; save its content as a file")
        return descriptor

    def held(self) -> tuple["SourceFile", str]:
        """The file, its content in memory when it is small, and the SHA-256 of what is on the disk.

        Raises UnreadableFileError as `open` does.
        """
        if self.size > HELD_BYTES:
            with self._opened() as raw:
                return self, hashlib.file_digest(raw, "sha256").hexdigest()
        descriptor = self._descriptor()
        try:
            # The buffer of a whole file is made once, of its size; a second read shows its end, or that it has grown.
            content = os.read(descriptor, self.size + 1)
            while len(content) <= HELD_BYTES and (more := os.read(descriptor, HEAD_BYTES)):
                content += more
        finally:
            os.close(descriptor)
        if len(content) > HELD_BYTES:  # it has grown since the walk
            return replace(self, size=len(content)).held()
        held = SourceFile(self.path, self.absolute, self.size, self.modified_at_s, self.troubles, content)
        return held, hashlib.sha256(content).hexdigest()

    def plain(self) -> bytes | None:
        """All of a file that is held and not packed; None of any other."""
        return None if self.content is None or self.content.startswith((_GZIP, _ZSTD)) else self.content

    def _most_bytes(self) -> int:
        return min(MAX_FILE_BYTES, max(FREE_EXPANSION_BYTES, MAX_EXPANSION * self.size))

    def trouble(self, sentence: str) -> None:
        """Remember once what was left of this file and why."""
        if sentence not in self.troubles:
            self.troubles.append(sentence)

    def head(self, size: int = HEAD_BYTES) -> str:
        """The first `size` bytes, decoded, for recognising the format."""
        with self.open() as stream:
            data = stream.read(size)
        return decode(data)

    def whole(self, limit: int, advice: str = "split the file") -> bytes:
        """The whole content, unpacked; raises UnreadableFileError with the `advice` beyond `limit` bytes."""
        with self.open() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise UnreadableFileError(f"{self.path}: more than {limit:,} bytes; {advice}")
        return data

    def text(self, limit: int = MAX_FILE_BYTES, advice: str = "split the file") -> str:
        """The whole content, decoded; raises UnreadableFileError as `whole` does."""
        return decode(self.whole(limit, advice))

    def lines(
        self, longest: int = MAX_LINE_CHARS, *, keep_ends: bool = False, newline: str | None = "\n"
    ) -> Iterator[tuple[int, str]]:
        """Line number (from 1) and text without its end. A carriage return alone ends a line only with `newline` None.

        With `keep_ends` a complete line keeps its newline; one without it is the last, or was cut at `longest`.
        """
        with self.open() as stream:
            encoding = encoding_of(_peek(stream, 4))
            text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline=newline)
            text._CHUNK_SIZE = 1 << 17  # type: ignore[attr-defined]  # 8 KiB a call otherwise
            number = 0
            while line := text.readline(longest):
                number += 1
                if number > MAX_LINES:
                    self.trouble(f"more than {MAX_LINES:,} lines; the rest was left, split the file")
                    return
                yield number, line if keep_ends else line.rstrip("\r\n")
                while not line.endswith("\n") and (line := text.readline(MAX_LINE_CHARS)):
                    self.trouble(f"line {number} is longer than {longest:,} characters and was cut")


def _stream(content: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(content))


def _peek(stream: io.BufferedReader, size: int) -> bytes:
    try:
        return stream.peek(size)[:size]
    except OSError:
        return b""


def encoding_of(start: bytes) -> str:
    """The encoding that a file's first four bytes show: a byte order mark, or the zero bytes of UTF-16 without one."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    # UTF-16 without a byte order mark: text of engines and tools starts with two ASCII characters.
    if len(start) == 4 and start[1] == start[3] == 0 and start[0] and start[2]:
        return "utf-16-le"
    if len(start) == 4 and start[0] == start[2] == 0 and start[1] and start[3]:
        return "utf-16-be"
    return "utf-8-sig"


def decode(data: bytes) -> str:
    """Bytes to text by their byte order mark (UTF-16, UTF-8); invalid bytes become U+FFFD."""
    return data.decode(encoding_of(data[:4]), errors="replace")


def walk(folder: Path) -> tuple[list[SourceFile], list[tuple[str, str]]]:
    """The regular files below `folder`, in natural order of their paths, and what was passed over with the reason.

    Symbolic links that leave the folder or lead to a folder, FIFOs, sockets, devices and unreadable folders are
    passed over; hidden files are not looked at.
    """
    root = folder.resolve()
    files: list[SourceFile] = []
    skipped: list[tuple[str, str]] = []
    for path in _below(folder, skipped):
        name = _name(path, folder)
        status, reason = _looked_at(path, root)
        if status is None:
            skipped.append((name, reason))
        elif len(files) == MAX_FILES:
            skipped.append((name, f"more than {MAX_FILES:,} files; the rest was not looked at"))
            break
        else:
            files.append(SourceFile(name, Path(path), status.st_size, status.st_mtime))
    return sorted(files, key=lambda file: natural_key(file.path)), sorted(skipped)


def together(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The items in their order, as many at once as are of `most` bytes together, and at least one.

    Behind an item that is as large no other is asked for before it was handed out.
    """
    few: list[T] = []
    total = 0
    for item in items:
        if few and total + size(item) > most:
            yield few
            few, total = [], 0
        few.append(item)
        total += size(item)
        if total >= most:
            yield few
            few, total = [], 0
    if few:
        yield few


def _below(folder: Path, skipped: list[tuple[str, str]]) -> Iterator[str]:
    # Texts: a Path for each step of each of some hundred thousand files would cost as much as asking the system.
    def left(error: OSError) -> None:
        name = _name(error.filename, folder) if error.filename else "."
        skipped.append((name, f"cannot be listed ({error.strerror}); check its rights"))

    for parent, folders, names in os.walk(folder, onerror=left):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in sorted([*links, *names]):
            if not name.startswith("."):
                yield f"{parent.rstrip(os.sep)}{os.sep}{name}"


def _looked_at(path: str, root: Path) -> tuple[os.stat_result | None, str]:
    """What the system says of a regular file inside the folder; None for any other, and why it is passed over."""
    try:
        status = os.lstat(path)
        if not stat_module.S_ISREG(status.st_mode):
            if reason := _why_not(Path(path), root):
                return None, reason
            status = Path(path).stat()
    except (OSError, RuntimeError):
        return None, "a link that leads nowhere or to itself; copy the file in"
    return (status, "") if os.access(path, os.R_OK) else (None, "may not be read; check its rights")


def _why_not(path: Path, root: Path) -> str | None:
    """Why what is no regular file itself is passed over; None where it leads to one inside the folder."""
    target = path.resolve(strict=True)
    if path.is_symlink() and not target.is_relative_to(root):
        return "a symbolic link that leaves the folder; copy the file in"
    if target.is_dir():
        return "a symbolic link to a folder; put the files in their own folder"
    return None if target.is_file() else "not a regular file; save its content as a file"


def _name(path: str, folder: Path) -> str:
    """A path as it is called everywhere: below the folder, with forward slashes."""
    return _printable(path.removeprefix(str(folder)).lstrip(os.sep)).replace(os.sep, "/")


def _printable(name: str) -> str:
    """A file name that is valid text: bytes that are not UTF-8 become U+FFFD."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", errors="replace")


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which t9 comes before t10: digit runs compare as numbers."""
    # isdecimal alone would let through a digit run that int() refuses (more than 4300 digits).
    parts = (part for part in re.split(r"([0-9]{1,4000})", name) if part)
    return [(1, int(part), "") if part.isascii() and part.isdecimal() else (0, 0, part) for part in parts]
