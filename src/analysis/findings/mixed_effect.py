"""What each class lost by the other's presence: phases in which it ran alone, held against those with both."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.estimates import tails
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats
from analysis.estimates.rounding import show_number
from analysis.findings.class_groups import ALONE, TOGETHER, Group, beside
from analysis.findings.mixed_quantiles import of_requests, ordinary, point
from analysis.findings.mixed_traffic import FINDING, LEAST_VISITS

Blocked = tuple[Floats, NDArray[np.int64]]
"""Values, and the block of each."""
MEASURES = (
    ("first token", "ttft_s", "s"),
    ("time per token", "typical_s", "s"),
    ("longest gap", "longest_s", "s"),
    ("completion", "e2e_s", "s"),
)
FEW_VISITS = f"the phases did not alternate, at least {LEAST_VISITS} visits of each"
NO_CLOCK = "clients used clocks that cannot be compared, so which class ran beside which is not known"
NO_ALONE, NO_BOTH = "no phase in which this class ran alone", "no phase in which it ran together with another class"


def effects(found: list[Group]) -> list[Estimate]:
    """mixed.effect of each place and class: its quantiles with the other class less those alone, by `measure`.

    Completion per hour is not here: `record_effects` has it. A class that was never alone, or never together, has one
    estimate that says so.
    """
    estimates = []
    for place in dict.fromkeys(group.place for group in found):
        for name in dict.fromkeys(g.name for g in found if g.place == place):
            estimates += _of_class(found, place, name)
    return estimates


def _of_class(found: list[Group], place: str, name: str) -> list[Estimate]:
    alone, both = split(found, place, name)
    mine = next(g for g in found if g.place == place and g.name == name)
    names = {k: v for k, v in mine.qualifiers.items() if k != "phase"}
    if not alone or not both:
        why = NO_ALONE if both else NO_BOTH
        if any(beside(found, g) is None for g in found if g.place == place and g.name == name and g.done.height):
            why = NO_CLOCK
        missing = no_interval(None, "s", "none", f"not computable: {why}")
        return [missing.named("mixed.effect", FINDING, **names, measure="first token", quantile="p50")]
    visits = min(_visits(alone), _visits(both))
    estimates = []
    for measure, column, unit in MEASURES:
        on, off = joined(both, column), joined(alone, column)
        for q in (0.5, 0.95):
            said = _difference(on, off, q, unit, visits).with_evidence(*both[0].evidence)
            estimates.append(said.named("mixed.effect", FINDING, **names, measure=measure, quantile=f"p{100 * q:g}"))
    return estimates


def _difference(on: Blocked, off: Blocked, q: float, unit: str, visits: int) -> Estimate:
    """The quantile with the other class less that alone; an interval only where the phases alternated."""
    if visits >= LEAST_VISITS or not (len(on[0]) and len(off[0])):
        estimate = tails.quantile_difference(*on, *off, q, unit)
        if len(on[0]) and len(off[0]):
            estimate = ordinary(estimate, point(on[0], q) - point(off[0], q), q)
    else:
        n = len(np.unique(on[1])) + len(np.unique(off[1]))
        value = point(on[0], q) - point(off[0], q)
        estimate = no_interval(value, unit, "difference of quantiles", FEW_VISITS, n=n, n_of="blocks")
    if not (len(on[0]) and len(off[0])):
        return estimate
    sides = zip(("alone", "together"), (off[0], on[0]), strict=True)
    said = [f"{show_number(point(x, q), unit, digits=2)} {side} ({of_requests(len(x), q)})" for side, x in sides]
    return replace(estimate, method=f"{estimate.method}; over all requests {', '.join(said)}")


def split(found: list[Group], place: str, name: str) -> tuple[list[Group], list[Group]]:
    """The phases of a class at a place: those in which it ran alone, and those with another class beside it."""
    mine = [(g, beside(found, g)) for g in found if g.place == place and g.name == name and g.done.height]
    alone = [g for g, share in mine if share is not None and share <= ALONE]
    return alone, [g for g, share in mine if share is not None and share >= TOGETHER]


def _visits(groups: list[Group]) -> int:
    return sum(group.visits for group in groups)


def joined(groups: list[Group], column: str) -> Blocked:
    """The column over several phases, their blocks kept apart."""
    values, blocks, following = [np.empty(0)], [np.empty(0, dtype=np.int64)], 0
    for group in groups:
        its, block = group.column(column)
        values.append(its)
        blocks.append(block + following)
        following += int(group.block.max(initial=-1)) + 1
    return np.concatenate(values), np.concatenate(blocks)


def record_effects(found: list[Group], records: list[Estimate]) -> list[Estimate]:
    """mixed.effect with measure `valid records`: the rate together less that alone, in 1/h.

    The interval reaches from the lowest that both intervals allow to the highest: wider than 95 %, never narrower.
    """
    rates = {(e.qualifiers.get("boot", e.qualifiers.get("target")), e.qualifiers["class"], e.qualifiers["phase"]): e
             for e in records if e.value is not None}  # fmt: skip
    estimates = []
    for place, name in dict.fromkeys((g.place, g.name) for g in found):
        alone, both = split(found, place, name)
        pairs = [(rates.get((place, name, a.phase)), rates.get((place, name, b.phase))) for a in alone for b in both]
        if len(pairs) != 1 or pairs[0][0] is None or pairs[0][1] is None:
            continue
        names = {k: v for k, v in both[0].qualifiers.items() if k != "phase"}
        alternated = min(_visits(alone), _visits(both)) >= LEAST_VISITS
        said = _rate_difference(*pairs[0], alternated).with_evidence(*both[0].evidence)  # type: ignore[arg-type]
        estimates.append(said.named("mixed.effect", FINDING, **names, measure="valid records"))
    return estimates


def _rate_difference(alone: Estimate, both: Estimate, alternated: bool) -> Estimate:
    value = (both.value or 0) - (alone.value or 0)
    ends = [end for end in (alone.low, alone.high, both.low, both.high) if end is not None]
    if not alternated or len(ends) < 4:
        why = FEW_VISITS if not alternated else both.reason or alone.reason or "one rate has none"
        return no_interval(value, "1/h", "difference of two rates", why)
    low, high = ends[2] - ends[1], ends[3] - ends[0]
    method = "difference of two rates, ends from both intervals"
    return Estimate(value, "1/h", "estimate", method, low, high, both.confidence, both.n, both.n_of, both.assumption)
