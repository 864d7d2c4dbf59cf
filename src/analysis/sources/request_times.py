"""Times of requests that cannot be: whatever the tool, what lies before its own beginning is not a measurement."""

import polars as pl

from analysis.sources.json_text import keep_unparsed
from analysis.sources.reading import Reading, Row
from analysis.sources.request_columns import is_rising

_SPANS = {"ttft_s": ("sent_at_s", "first_token_at_s"), "e2e_s": ("sent_at_s", "finished_at_s"),
          "": ("first_token_at_s", "last_token_at_s")}  # fmt: skip
"""Durations by the moments that they lie between."""


def drop_impossible(reading: Reading) -> None:
    """Null the negative times in the rows of requests and runs; each row that had one becomes an unparsed entry.

    A negative duration goes with the moment that it leads to; arrivals that run backwards go with the gaps they give.
    """
    for table, what in (("requests", "request"), ("request_runs", "run")):
        rows = reading.tables.get(table, [])
        if isinstance(rows, pl.DataFrame):
            if not _any_impossible(rows):
                continue
            rows = reading.tables[table] = rows.to_dicts()
        for row in rows:
            if wrong := _impossible(row):
                shown = ", ".join(f"{key} {row[key]}"[:100] for key in wrong if row.get(key) is not None)
                row |= dict.fromkeys(wrong)
                name = f"{reading.format} {what} {row.get('ordinal')}: a negative time"
                keep_unparsed(reading, row.get("line") or 1, name, shown)


def _any_impossible(rows: pl.DataFrame) -> bool:
    """Whether `_impossible` finds anything in one of these rows."""
    there = set(rows.columns)
    wrong = [pl.col(duration) < 0 for duration in _SPANS.keys() & there]
    wrong += [pl.col(end) < pl.col(start) for start, end in _SPANS.values() if {start, end} <= there]
    wrong += [pl.col("itl_s").list.min() < 0] if "itl_s" in there else []
    falls = "token_at_s" in there and not is_rising(rows["token_at_s"])
    return falls or bool(rows.select(pl.any_horizontal(wrong).any()).item())


def _impossible(row: Row) -> list[str]:
    wrong = ["duration_s"] if (row.get("duration_s") or 0) < 0 else []
    for duration, (start, end) in _SPANS.items():
        known = row.get(start) is not None and row.get(end) is not None
        if (row.get(duration) or 0) < 0 or (known and row[end] < row[start]):
            wrong += [duration, end] if duration else [end]
    gaps, events = row.get("itl_s") or (), row.get("token_at_s") or ()
    if min(gaps, default=0) < 0 or list(events) != sorted(events):
        wrong += ["itl_s", "token_at_s", "last_token_at_s"]
    return [key for key in dict.fromkeys(wrong) if key in row]
