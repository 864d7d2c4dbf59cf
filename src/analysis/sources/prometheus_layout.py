"""The plain page at the speed of a search: its lines are known words, and only its values are new.

Everything here is a shortcut with one rule: a page is taken only where reading it line by line, with the grammar of
`prometheus_line`, gives the same samples. Whatever is not that plain is refused, and read carefully.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from analysis.sources.files import MAX_LINE_CHARS
from analysis.sources.prometheus_line import DECLARED, MAX_NUMBER_CHARS
from analysis.sources.prometheus_words import CREATED, PROCESS_START, SHIFT, Words

_TELLS_MORE = re.compile(rb"#[ \t]*(?:EOF|scraped_at)\b", re.I)
_END = b"# EOF"
_NEWLINE = ord("\n")
_LONGEST = MAX_LINE_CHARS - 2 * MAX_NUMBER_CHARS
_INLINE = 12
"""A string view holds this many bytes itself."""


@dataclass(frozen=True)
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
        return (self.cuts - np.concatenate([[0], ends[:-1] + 1]))[self._samples]

    @cached_property
    def _pieces(self) -> pa.Array:
        pieces = self._cut(self.page)
        assert pieces is not None
        return pieces

    def _cut(self, page: bytes) -> pa.Array | None:
        """The page as what stands before, between and behind the values, and the values, in turn; nothing is copied.

        None when its lines are not as many as the layout's, or one of them has no room for a value.
        """
        ends = np.flatnonzero(np.frombuffer(page, "u1") == _NEWLINE)
        if ends.size != self.is_sample.size or ends[-1] != len(page) - 1:
            return None
        stops = ends[self._samples]
        # A first line that is a sample begins at 0: its place less one would be the last line's.
        begins = self._beginnings + np.concatenate([[0], ends[:-1] + 1])[self._samples]
        lengths = stops - begins
        if lengths.min() < 1 or lengths.max() > MAX_NUMBER_CHARS:
            return None
        edges = np.empty(2 * stops.size + 2, "i4")
        edges[0], edges[-1] = 0, len(page)
        edges[1:-1:2], edges[2:-1:2] = begins, stops
        return pa.Array.from_buffers(pa.string(), edges.size - 1, [None, pa.py_buffer(edges), pa.py_buffer(page)])

    def values(self, page: bytes) -> np.ndarray | None:
        """The samples' values on a page of whole lines that are the layout's but for their values; else None."""
        pieces = self._cut(page)
        if pieces is None:
            return None
        differ = pc.not_equal(pieces, self._pieces)
        new = differ.to_numpy(zero_copy_only=False)
        if new[::2].any():
            return None
        # Most counters of an engine stand still: only texts that differ from the layout's own are converted.
        numbers = _numbers(pieces.filter(differ))
        if numbers is None:
            return None
        values = self.first.copy()
        values[new[1::2]] = numbers
        return values

    def process_start(self, values: np.ndarray) -> float | None:
        """process_start_time_seconds, else the earliest _created, of values that are times; else None."""
        for places in (self.started, self.created):
            if places.size:
                times = values[places]
                times = times[np.isfinite(times) & (times > 0)]
                if times.size:
                    return float(times.min())
        return None


def read(page: bytes, words: Words) -> tuple[Layout, np.ndarray] | None:
    """The layout and the values of a page of whole lines, or None where it needs careful reading."""
    if not page or words.is_full or not _is_text(page):
        return None
    place = np.frombuffer(page, "u1")
    ends = np.flatnonzero(place == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    is_sample = place[starts] != ord("#")
    begins, stops = starts[is_sample], ends[is_sample]
    openmetrics = _comments([page[a:b] for a, b in zip(starts[~is_sample], ends[~is_sample], strict=True)],
                            closed=not is_sample[-1])  # fmt: skip
    if openmetrics is None or not begins.size:
        return None
    blanks, braces = np.flatnonzero(place == ord(" ")), np.flatnonzero(place == ord("{"))
    # The last blank of a line is before its value, the first brace behind the name.
    cuts = np.append(blanks, -1)[np.searchsorted(blanks, stops) - 1]
    opens = np.append(braces, place.size)[np.searchsorted(braces, begins)]
    if (cuts <= begins).any() or (stops - cuts > MAX_NUMBER_CHARS).any() or (ends - starts).max() > _LONGEST:
        return None
    fours = np.ndarray(len(page) + _INLINE - 3, "<u4", page + bytes(_INLINE), strides=(1,))
    names = _texts(page, fours, begins, np.minimum(opens, cuts))
    labels = _texts(page, fours, np.minimum(opens + 1, cuts), cuts)
    values = _cast(_texts(page, fours, cuts + 1, stops))
    keys = None if values is None or ((opens < cuts) & (opens + 1 >= cuts)).any() else _keys(names, labels, words)
    if values is None or keys is None:
        return None
    whole = ends.copy()
    whole[is_sample] = cuts + 1
    chars = int((cuts - begins).sum())
    layout = _layout(page, values, whole, is_sample, keys, chars, words, openmetrics)
    return None if layout is None else (layout, values)


def _is_text(page: bytes) -> bool:
    """Whether a page is valid UTF-8; a carriage return may end a line, a byte order mark names another encoding."""
    if b"\r" in page:
        return False
    try:
        return page.isascii() or not page.decode().startswith("\ufeff")
    except UnicodeDecodeError:
        return False


def _comments(comments: list[bytes], closed: bool) -> bool | None:
    """Whether comment lines end in the mark of OpenMetrics; None when they may divide or date the page.

    `closed` says that the last of them is the last line.
    """
    told = [what for what in map(declared, comments) if what]
    is_openmetrics = closed and comments[-1] == _END
    others = comments[:-1] if is_openmetrics else comments
    divide = len(set(told)) < len(told) or any(map(_TELLS_MORE.match, others))
    return None if divide else is_openmetrics


def _texts(page: bytes, fours: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> pl.Series:
    """Pieces of a page as strings that lie in it: nothing is copied but the short ones.

    `fours` holds, at each place of the page, the four bytes from there.
    """
    lengths = (ends - begins).astype("u4")
    views = np.empty((len(begins), 4), "u4")
    views[:, 0] = lengths
    views[:, 1] = fours[begins]
    views[:, 2] = 0
    views[:, 3] = begins
    short = np.flatnonzero(lengths <= _INLINE)
    inline = fours[begins[short, None] + np.arange(0, _INLINE, 4)].view("u1")
    inline *= np.arange(_INLINE, dtype="u4") < lengths[short, None]
    views[short, 1:] = inline.view("u4")
    buffers = [None, pa.py_buffer(views), pa.py_buffer(page)]
    return pl.from_arrow(pa.Array.from_buffers(pa.string_view(), len(begins), buffers))  # type: ignore[return-value]


def _cast(texts: pl.Series) -> np.ndarray | None:
    """The texts as doubles; None when one is no number as `parse_number` means it."""
    numbers = texts.cast(pl.Float64, strict=False)
    return None if numbers.null_count() or _overflown(numbers.to_numpy(), texts) else numbers.to_numpy()


def _numbers(texts: pa.Array) -> np.ndarray | None:
    """As `_cast`, of few texts."""
    try:
        numbers = texts.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if _overflown(numbers, texts) else numbers


def _overflown(numbers: np.ndarray, texts: pl.Series | pa.Array) -> bool:
    """Whether one of the numbers is infinite because a double cannot hold it, and not because it says so."""
    return any(str(texts[int(i)]).lower().count("n") == 0 for i in np.flatnonzero(np.isinf(numbers)))


def _keys(names: pl.Series, labels: pl.Series, words: Words) -> np.ndarray | None:
    """The keys of the series with these raw names and labels, when all are plain and different; else None."""
    # The samples of a family follow each other: where a run of one name begins, it is looked up.
    heads = np.flatnonzero((names != names.shift(1)).fill_null(True).to_numpy())
    name = _known(names.gather(heads), words.name_numbers)
    label = _known(labels, words.label_numbers)
    if name is None or label is None:
        return None
    keys = np.repeat(name << SHIFT, np.diff(heads, append=len(names))) | label
    return keys if pl.Series(keys).n_unique() == len(keys) else None


def _known(raw: pl.Series, numbers_of: Callable[[pl.Series], list[int | None]]) -> np.ndarray | None:
    """The numbers of raw words, each looked up once; None when one of them is not plain."""
    coded = raw.to_arrow().dictionary_encode()
    numbers = numbers_of(pl.from_arrow(coded.dictionary))  # type: ignore[arg-type]  # a column
    return None if None in numbers else np.array(numbers, "i8")[coded.indices.to_numpy()]


def _layout(
    page: bytes,
    values: np.ndarray,
    cuts: np.ndarray,
    is_sample: np.ndarray,
    keys: np.ndarray,
    chars: int,
    words: Words,
    openmetrics: bool,
) -> Layout | None:
    """The layout of a page that has one scrape instance; None when it has several."""
    instances = words.instances_of(keys)
    if len(instances) > 1:
        return None
    roles = np.array(words.roles, "i1")[keys >> SHIFT]
    return Layout(
        page=page,
        first=values,
        cuts=cuts,
        is_sample=is_sample,
        series=words.numbers(keys),
        lines=np.flatnonzero(is_sample) + 1,
        started=np.flatnonzero(roles == PROCESS_START),
        created=np.flatnonzero(roles == CREATED),
        instance=instances.pop(),
        chars=chars,
        is_openmetrics=openmetrics,
    )


@lru_cache(maxsize=1 << 13)
def declared(comment: bytes) -> tuple[str, str] | None:
    """What a comment declares, as `prometheus_text` understands it."""
    match = DECLARED.match(comment.decode("utf-8", "replace"))
    return (match[1], match[2][:200]) if match else None
