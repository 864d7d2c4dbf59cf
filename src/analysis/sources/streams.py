"""Byte streams that end well: bounded in size, and at the first damage, with a sentence that says what is missing."""

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Protocol

import zstandard

DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError, OSError)
"""What a damaged or cut file raises while it is unpacked."""


class _Bytes(Protocol):
    """What the decompressors and plain files have in common."""

    def readinto(self, buffer: memoryview, /) -> int: ...

    def close(self) -> None: ...


def bounded(source: _Bytes, limit: int, trouble: Callable[[str], None]) -> io.BufferedReader:
    """A stream over `source` that ends after `limit` bytes or at damage; `trouble` then gets the sentence for it."""
    return io.BufferedReader(_Bounded(source, limit, trouble), buffer_size=1 << 17)


class _Bounded(io.RawIOBase):
    """A byte stream that ends, and says so, at a limit or where its source is damaged."""

    def __init__(self, source: _Bytes, limit: int, trouble: Callable[[str], None]) -> None:
        self._source, self._left, self._trouble, self._ended = source, limit, trouble, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._ended:
            return 0
        try:
            size = self._source.readinto(memoryview(buffer)[: self._left + 1])
        except DAMAGE as error:
            self._trouble(f"damaged or cut off ({_reason(error)}); what could be read is kept, the rest is missing")
            self._ended = True
            return 0
        if size > self._left:
            self._trouble("larger than may be read (a decompression bomb?); the rest was left, split the file")
            size, self._ended = self._left, True
        self._left -= size
        return size

    def close(self) -> None:
        self._source.close()
        super().close()


class GzipMembers:
    """The members of a gzip file one after another; at damage, what came before it is handed over first."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed, self._members = packed, gzip.GzipFile(fileobj=packed)

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, or its beginning, with unpacked bytes; 0 at the end."""
        return self._members.readinto1(buffer)  # readinto() would lose what it had unpacked when it meets the damage

    def close(self) -> None:
        """Close the packed file."""
        self._members.close()
        self._packed.close()


class ZstdFrames:
    """The frames of a zstd file one after another; raises EOFError where the last one is cut off."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed, self._frame = packed, zstandard.ZstdDecompressor().decompressobj()
        self._started, self._ready = False, b""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the buffer, or its beginning, with unpacked bytes; 0 at the end."""
        while not self._ready:
            # Small pieces: a zstd block of a few bytes may become 128 KiB.
            piece = self._frame.unused_data if self._frame.eof else b""
            piece = piece or self._packed.read(512)
            if not piece:
                if self._started and not self._frame.eof:
                    raise EOFError("compressed file ended before the end of a frame")
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._started = True
            self._ready = self._frame.decompress(piece)
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the packed file."""
        self._packed.close()


def _reason(error: BaseException) -> str:
    return str(error).split(":")[0].strip().lower()[:80] or type(error).__name__
