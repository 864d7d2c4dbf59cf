"""A page that is known but for its values: series of scrapes at the speed of a search.

A shortcut with one rule: a page is taken only where reading it line by line, with the grammar of `prometheus_line`,
gives the same samples. Whatever is not that plain is refused, and read carefully.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from math import inf

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from analysis.sources.prometheus_line import MAX_NUMBER_CHARS

AT_ONCE_BYTES = 1 << 19
"""Pages of a known layout are looked at together up to so many bytes, which the processor's cache holds."""
_NEWLINE = ord("\n")


@dataclass(frozen=True, eq=False)
class Layout:
    """A page without its values: the beginning of each line, and what the samples on it are.

    `series` are the numbers of the samples' series (all different) in the order of their lines, `lines` the lines
    themselves from 1; `started` and `created` are the places, among the samples, of the process' start and of the
    _created times; `instance` is the one scrape instance of all; `chars` is the length of all names and labels.
    """

    page: bytes = field(repr=False)
    first: np.ndarray
    """The values on this page."""
    cuts: np.ndarray
    """Where in the page each line's beginning ends: before a sample's value, and behind a comment."""
    is_sample: np.ndarray
    series: np.ndarray
    lines: np.ndarray
    started: np.ndarray
    created: np.ndarray
    instance: str
    chars: int
    is_openmetrics: bool

    @cached_property
    def _samples(self) -> np.ndarray:
        """The places of the samples' lines among all lines."""
        return np.flatnonzero(self.is_sample)

    @cached_property
    def _beginnings(self) -> np.ndarray:
        """The length of what a sample's line begins with."""
        ends = np.flatnonzero(np.frombuffer(self.page, "u1") == _NEWLINE)
        return (self.cuts - np.concatenate([[0], ends[:-1] + 1]))[self._samples].astype("i4")

    @cached_property
    def _start(self) -> bytes:
        """What every page begins with, up to its first value: it tells most layouts apart."""
        return self.page[: self.cuts[self._samples[0]]]

    @cached_property
    def _most(self) -> int:
        """How many pages are looked at together: so many that the processor's cache holds them."""
        return max(1, AT_ONCE_BYTES // len(self.page))

    @cached_property
    def _pieces(self) -> pa.Array:
        """The layout's own page in pieces, again and again: what as many pages are compared with."""
        ends = np.flatnonzero(np.frombuffer(self.page, "u1") == _NEWLINE)
        starts = np.arange(self._most)[:, None] * len(self.page)
        begins, stops = starts + self.cuts[self._samples], starts + ends[self._samples]
        return _in_turn(self.page * self._most, starts[:, 0] + len(self.page), begins, stops)

    def values(self, pages: Sequence[bytes]) -> list[np.ndarray | None]:
        """Of each page of whole lines the samples' values, where it is the layout's but for its values; else None."""
        most = self._most
        return [one for at in range(0, len(pages), most) for one in self._values(pages[at : at + most])]

    def _values(self, pages: Sequence[bytes]) -> list[np.ndarray | None]:
        fits = np.array([page.startswith(self._start) and page.endswith(b"\n") for page in pages])
        if not fits.all():
            return self._of_those(pages, fits)
        whole, upto = b"".join(pages), np.cumsum([len(page) for page in pages])
        ends = np.flatnonzero(np.frombuffer(whole, "u1") == _NEWLINE).astype("i4")
        fits = np.diff(np.searchsorted(ends, upto), prepend=0) == self.is_sample.size
        if not fits.all():
            return self._of_those(pages, fits)
        starts = np.concatenate([ends[-1:] * 0, ends[:-1] + 1])
        begins, stops = (edge.reshape(len(pages), -1)[:, self._samples] for edge in (starts, ends))
        begins += self._beginnings
        lengths = stops - begins
        fits = (lengths.min(1) >= 1) & (lengths.max(1) <= MAX_NUMBER_CHARS)
        if not fits.all():
            return self._of_those(pages, fits)
        return self._converted(pages, _in_turn(whole, upto, begins, stops))

    def _converted(self, pages: Sequence[bytes], pieces: pa.Array) -> list[np.ndarray | None]:
        differ = pc.not_equal(pieces, self._pieces[: len(pieces)])
        new = differ.to_numpy(zero_copy_only=False).reshape(len(pages), -1)
        fits = ~new[:, ::2].any(1)
        if not fits.all():
            return self._of_those(pages, fits)
        # Most counters of an engine stand still: only texts that differ from the layout's own are converted.
        numbers = _numbers(pieces.filter(differ))
        if numbers is None:
            return [None] if len(pages) == 1 else [one for page in pages for one in self._values([page])]
        values = np.tile(self.first, (len(pages), 1))
        values[new[:, 1:-1:2]] = numbers
        return list(values)

    def _of_those(self, pages: Sequence[bytes], fits: np.ndarray) -> list[np.ndarray | None]:
        """The values of the pages that fit so far, fewer than all."""
        some = iter(self._values(list(compress(pages, fits))) if fits.any() else ())
        return [next(some) if fit else None for fit in fits]

    def process_start(self, values: np.ndarray) -> float | None:
        """process_start_time_seconds, else the earliest _created, of values that are times; else None."""
        for places in (self.started, self.created):
            times = [time for time in values[places].tolist() if 0 < time < inf]
            if times:
                return min(times)
        return None


def _in_turn(whole: bytes, upto: np.ndarray, begins: np.ndarray, stops: np.ndarray) -> pa.Array:
    """Pages, one behind the other, as what stands before, between and behind their values, and the values, in turn.

    `upto` is where each page ends; `begins` and `stops` of its values have a row a page. Nothing is copied. Behind
    each page stands an empty piece, so that each has as many.
    """
    pieces = 2 * begins.shape[1] + 2
    offsets = np.empty(upto.size * pieces + 1, "i4")
    offsets[0], offsets[pieces::pieces], offsets[pieces - 1 :: pieces] = 0, upto, upto
    edges = offsets[:-1].reshape(upto.size, pieces)
    edges[:, 1:-1:2], edges[:, 2:-1:2] = begins, stops
    return pa.Array.from_buffers(pa.string(), edges.size, [None, pa.py_buffer(offsets), pa.py_buffer(whole)])


def _numbers(texts: pa.Array) -> np.ndarray | None:
    """The texts as doubles; None when one is no number as `parse_number` means it."""
    try:
        numbers = texts.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if overflown(numbers, texts) else numbers


def overflown(numbers: np.ndarray, texts: pl.Series | pa.Array) -> bool:
    """Whether one of the numbers is infinite because a double cannot hold it, and not because it says so."""
    return any(str(texts[int(i)]).lower().count("n") == 0 for i in np.flatnonzero(np.isinf(numbers)))
