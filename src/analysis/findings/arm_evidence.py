"""The lines of files that a ratio of arms was made of: those of both arms' boots, as a reader can look them up."""

from collections.abc import Sequence

import polars as pl

from analysis.estimates.estimate import Evidence
from analysis.findings.evidence import bounded, series_text

Lines = tuple[Evidence, ...]


def of_boots(evidence: pl.DataFrame, arms: Sequence[Sequence[str]], measure: str, name: str | None) -> Lines:
    """The lines behind a measure (and class) of each arm's boots, arm after arm; `evidence` as view measure_evidence.

    Each arm names as many, where there are more than a figure names.
    """
    mine = evidence.filter(pl.col("measure") == measure, pl.col("class").eq_missing(name))
    found = [
        [
            Evidence(row["file"], row["line"], _series(row), row["said"], row["quote"])
            for row in mine.filter(pl.col("boot").is_in(list(boots))).iter_rows(named=True)
        ]
        for boots in arms
    ]
    return tuple(dict.fromkeys(line for lines in found for line in bounded(lines, len(arms))))


def _series(row: dict[str, str | None]) -> str | None:
    return series_text(row["series"], row["labels"] or "{}") if row["series"] else None
