"""A plain page that is not known yet, at once: its lines are known words, and only its values are new.

Everything here is a shortcut with the rule of `prometheus_layout`: what careful reading would take otherwise is
refused.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import polars as pl
import pyarrow as pa

from analysis.sources.files import MAX_LINE_CHARS
from analysis.sources.prometheus_layout import Layout, overflown
from analysis.sources.prometheus_line import DECLARED, MAX_CACHED_CHARS, MAX_NUMBER_CHARS
from analysis.sources.prometheus_words import CREATED, PROCESS_START, SHIFT, Words

_TELLS_MORE = re.compile(rb"#[ \t]*(?:EOF|scraped_at)\b", re.I)
_END = b"# EOF"
_LONGEST = MAX_LINE_CHARS - 2 * MAX_NUMBER_CHARS
_INLINE = 12
"""A string view holds this many bytes itself."""


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
    return None if numbers.null_count() or overflown(numbers.to_numpy(), texts) else numbers.to_numpy()


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
        lines=(np.flatnonzero(is_sample) + 1).astype("i4"),
        started=np.flatnonzero(roles == PROCESS_START),
        created=np.flatnonzero(roles == CREATED),
        instance=instances.pop(),
        chars=chars,
        is_openmetrics=openmetrics,
    )


def declared(comment: bytes) -> tuple[str, str] | None:
    """What a comment declares, as `prometheus_text` understands it."""
    # A cache of long ones would be a way to fill the memory.
    return _declared(comment) if len(comment) <= MAX_CACHED_CHARS else _declared.__wrapped__(comment)


@lru_cache(maxsize=1 << 13)
def _declared(comment: bytes) -> tuple[str, str] | None:
    match = DECLARED.match(comment.decode("utf-8", "replace"))
    return (match[1], match[2][:200]) if match else None
