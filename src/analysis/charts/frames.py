"""What a chart or a table accepts: a small tidy frame, made safe to draw."""

import re
import textwrap
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import polars.selectors as cs

from analysis.redact import redact

if TYPE_CHECKING:
    import pandas as pd  # seconds to import, and most frames are polars

Frame: TypeAlias = "pl.DataFrame | pd.DataFrame"
LABEL = 15
"""Characters of a line of a row's label that still leave room for the plot at 390 px."""
HEADING = 44
"""Characters of a line of a panel's heading at that width."""
MARKS = 1_500
"""Most points of one chart."""
BREAK = "\u200b"
"""Ends a line within a label; the theme tells the charts so. A space without width: expressions take it in a text."""


def tidy(frame: Frame, *columns: str) -> pl.DataFrame:
    """The frame in polars with these columns at least: decimals as floats, and null for what is not finite.

    Columns of objects, which no chart draws, are left out. Raises ValueError for columns that are missing, naming them.
    """
    rows = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    if missing := [c for c in columns if c not in rows.columns]:
        raise ValueError(f"the frame lacks the columns {', '.join(missing)}")
    rows = rows.drop(cs.by_dtype(pl.Object)).with_columns(cs.decimal().cast(pl.Float64))
    return rows.with_columns(pl.when(cs.float().is_finite()).then(cs.float()))


def thinned(rows: pl.DataFrame, group: str, along: str) -> tuple[pl.DataFrame, str]:
    """One row in so many of each group, in the order of `along`, and the words that say so: at most about MARKS.

    Each mark is an element of the page; of tens of thousands none can be told from its neighbours.
    """
    among = -(-rows.height // MARKS)
    if among <= 1:
        return rows, ""
    kept = rows.sort(group, along).filter(pl.int_range(pl.len()).over(group) % among == 0)
    return kept, f"; one point in {among:,} is drawn, the CSV has all"


def panelled(rows: pl.DataFrame, **words: str) -> pl.DataFrame:
    """The rows for panels by `group` along `x`; without any, one empty panel: a chart without one has no size.

    `words` are text columns of the row that stands for it, where marks are drawn by them.
    """
    if rows.height:
        return rows
    return pl.concat(
        [rows, pl.DataFrame({"group": ["no data"], "x": [0.0], **{k: [v] for k, v in words.items()}})],
        how="diagonal_relaxed",
    )


def natural(text: str) -> tuple[Any, ...]:
    """A sort key under which boot-9 comes before boot-10."""
    return tuple((int(p), "") if p.isdecimal() else (-1, p) for p in re.split(r"(\d+)", text.replace(BREAK, " ")))


_KNOWN = (
    "prefill",
    "decode",
    "queue",
    "served",
    "refused",
    "crashed",
    "read",
    "partial",
    "unreadable",
    "unrecognised",
    "skipped",
)


def ordered(rows: pl.DataFrame, column: str, within: str | None = None) -> list[str]:
    """The values of a text column, once each: by the group `within`, known words first, then in natural order."""
    pairs = rows.select(column, (pl.col(within) if within else pl.lit("")).alias("_within")).unique()
    keys = sorted((_place(str(group)), _place(str(name)), str(name)) for name, group in pairs.iter_rows())
    return list(dict.fromkeys(name for _, _, name in keys))


def _place(word: str) -> tuple[int, tuple[Any, ...]]:
    return (_KNOWN.index(word) if word in _KNOWN else len(_KNOWN), natural(word))


def shorten(rows: pl.DataFrame, column: str, lines: int = 2) -> pl.DataFrame:
    """The frame with the column's texts in one or two lines, cut in their middle to what fits beside a narrow plot.

    They stay different from each other. They are redacted first: of half an address or token nothing could tell any
    more what it was.
    """
    rows = _plain(rows, column)
    names = [str(v) for v in rows[column].unique()]
    for limit in range(LABEL, max(map(len, names), default=LABEL) + 1):
        short = {name: _fit(name, limit, lines) for name in names}
        if len(set(short.values())) == len(names):
            break
    else:
        short = {name: name for name in names}
    return rows.with_columns(pl.col(column).replace(short))


def headed(rows: pl.DataFrame, column: str = "group") -> pl.DataFrame:
    """The frame with the column's texts, redacted, broken into lines that fit above a panel; nothing is cut."""
    rows = _plain(rows, column)
    lines = {str(v): BREAK.join(textwrap.wrap(str(v), HEADING) or [""]) for v in rows[column].unique()}
    return rows.with_columns(pl.col(column).replace(lines))


def _plain(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    rows = rows.with_columns(pl.col(column).cast(pl.String).str.replace_all(rf"[\s{BREAK}]+", " "))
    return rows.with_columns(pl.col(column).replace({str(v): redact(str(v)).text for v in rows[column].unique()}))


def _fit(text: str, limit: int, lines: int) -> str:
    """The text in at most this many lines, of at most `limit` characters each."""
    if len(text) <= limit:
        return text
    for size in range(min(len(text), 2 * limit), limit, -1) if lines > 1 else ():
        if two := _in_two(_cut(text, size), limit):
            return two
    return _cut(text, limit)


def _in_two(text: str, limit: int) -> str | None:
    """The text in two lines, broken after a space, else after a mark that joins words; not inside brackets."""
    places = [
        (text[i - 1] in " ·,", i)
        for i in range(1, len(text))
        if text[i - 1] in " ·,-_/" and text.count("[", 0, i) == text.count("]", 0, i)
        and len(text[:i].strip()) <= limit and len(text[i:].strip()) <= limit
    ]  # fmt: skip
    if not places:
        return None
    at = max(places)[1]
    return f"{text[:at].strip()}{BREAK}{text[at:].strip()}"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"
