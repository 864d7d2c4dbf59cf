"""What the data contradict in themselves: counts of one thing that differ, boots that cannot all be right."""

from dataclasses import dataclass

import duckdb

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.findings import request_counts, token_pool
from analysis.findings.time_tables import run_of


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence on a contradiction, the number under it, what to do, and what would settle it."""

    sentence: str
    estimate: Estimate
    next_step: str
    unless: str


def found(connection: duckdb.DuckDBPyConnection) -> list[Disagreement]:
    """Every contradiction of the study that has a number, the largest of its kind only."""
    identities = [e for e in token_pool.identity(connection) if e.verdict == "broken"]
    counts = [e for e in request_counts.counts(connection) if e.id == request_counts.UNMATCHED and e.value]
    worst = [max(of_kind, key=lambda e: abs(e.value or 0)) for of_kind in (identities, counts) if of_kind]
    return [(_boots if e.id == "pool.identity" else _counts)(e) for e in worst]


def _boots(e: Estimate) -> Disagreement:
    arm = e.qualifiers["arm"]
    return Disagreement(
        f"The {e.n} boots of arm {arm}, one setting, disagree by {show(e)} on what a longest request takes: either "
        "the printed memory did not size the pools, or the boots differ in something their logs do not print; no "
        "figure in bytes per token can be had from these boots.",
        e,
        f"Compare the pools of arm {arm} in requests that fit, and save the whole logs of a further boot of it.",
        "whole logs show a setting in which these boots differ: then they are not boots of one setting.",
    )


def _counts(e: Estimate) -> Disagreement:
    off = show_number(abs(e.value or 0), "1", plain=True)
    side = "more" if (e.value or 0) > 0 else "fewer"
    return Disagreement(
        f"In {run_of(e)} {off} {side} requests have a finish reason than are in the time histograms: the figures are "
        "not all of the same requests.",
        e,
        "Fetch one more page when no request is running, and count again.",
        "the requests between the two counts were aborted before they had phase times.",
    )
