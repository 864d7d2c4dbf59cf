"""What an estimate says of a published figure: reproduced, differs, not computable, or not supported; and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite

from analysis.estimates.estimate import Estimate
from analysis.estimates.printed import Printed
from analysis.estimates.rounding import show, show_number, show_value
from analysis.estimates.units import PLAIN_IDS

REPRODUCED, DIFFERS, NOT_COMPUTABLE, NOT_SUPPORTED = "reproduced", "differs", "not_computable", "not_supported"
TOLERANCE = 1e-9
"""Sums of floats are not exact in their last digits; what was published has far fewer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a claim, one sentence of why, and whether the interval decided it."""

    verdict: str
    why: str
    used_interval: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What was published: a number with its rounding, and how it is related to the figure it is held against."""

    relation: str
    published: float | None
    rounding: float | None = None
    excludes: float | None = None

    def printed(self) -> Printed:
        """The published number between the limits that its rounding leaves."""
        number = Printed.of(self.published or 0.0, self.rounding or 0.0)
        slack = TOLERANCE * max(1.0, abs(number.value))
        return Printed(number.value, number.low - slack, number.high + slack)


def judge(said: Said, estimate: Estimate) -> Verdict:
    """The verdict on a claim, from one estimate."""
    if estimate.kind == "census" and estimate.n == 0:
        return Verdict(NOT_COMPUTABLE, f"what is missing: there are no {estimate.n_of}")
    if estimate.value is None and _interval(estimate) is None and said.relation not in ("is_bound", *_OF_ARMS):
        reason = (estimate.reason or "no value").removeprefix("not computable: ")
        # Withheld is not missing: the data are there and contradict each other, so they do not carry the sentence.
        missing = (estimate.reason or "").startswith("not computable") or estimate.method == "none"
        computable = not missing or reason.startswith("withheld")
        return Verdict(NOT_SUPPORTED if computable else NOT_COMPUTABLE, f"{_missing(computable)}: {reason}")
    return _RELATIONS[said.relation](said, estimate)


def _missing(computable: bool) -> str:
    return "the data give no value" if computable else "what is missing"


def _interval(e: Estimate) -> tuple[float, float] | None:
    if e.low is None and e.high is None:
        return None
    return (-inf if e.low is None else e.low), (inf if e.high is None else e.high)


def _equals(said: Said, e: Estimate) -> Verdict:
    published, ends = said.printed(), _interval(e)
    if e.value is not None and published.low <= e.value <= published.high:
        return _the_same(said, e, ends)
    if ends is not None and ends[0] <= published.high and ends[1] >= published.low:
        holds = said.excludes is not None and ends[0] <= said.excludes <= ends[1]
        else_ = show_number(said.excludes, e.unit) if holds else "much else"
        why = f"the data say {show(e)}: the published figure lies in this interval, and so does {else_}"
        return Verdict(NOT_SUPPORTED, why, used_interval=True)
    if e.kind == "estimate" and ends is None:
        return Verdict(NOT_SUPPORTED, f"the data say {_point(e)}, without an interval: {e.reason}")
    return Verdict(DIFFERS, f"the data say {show(e)}: {_apart(published.value, e)}", used_interval=e.value is None)


def _the_same(said: Said, e: Estimate, ends: tuple[float, float] | None) -> Verdict:
    if said.excludes is not None:
        without = show_number(said.excludes, e.unit)
        if ends is None:
            return Verdict(NOT_SUPPORTED, f"the number is the same, but it has no interval that leaves {without} out")
        if ends[0] <= said.excludes <= ends[1]:
            return Verdict(NOT_SUPPORTED, f"the number is the same, but its interval holds {without}: {show(e)}", True)
    if e.kind in ("census", "identity"):
        return Verdict(REPRODUCED, f"the data say {show(e)}, counted for what was recorded")
    if ends is None:
        return Verdict(REPRODUCED, f"the number is the same; of the service nothing can be said: {e.reason}")
    return Verdict(REPRODUCED, f"the number is the same; for the service it is {show(e)}")


def _side(said: Said, e: Estimate, is_most: bool) -> Verdict:
    published, ends = said.printed(), _interval(e)
    if ends is None and e.kind in ("census", "identity", "bound") and e.value is not None:
        ends = (e.value, e.value)
    if ends is None:
        return Verdict(NOT_SUPPORTED, f"the data say {_point(e)}, without an interval: {e.reason}")
    low, high = ends if is_most else (-ends[1], -ends[0])
    limit = published.high if is_most else -published.low
    interval = ends[0] < ends[1]
    if high <= limit:
        return Verdict(REPRODUCED, f"all of {show(e)} is on this side", interval)
    if low > limit:
        return Verdict(DIFFERS, f"the data say {show(e)}, outside of it: the limit is {_limit(published, e)}", interval)
    return Verdict(NOT_SUPPORTED, f"the data say {show(e)}, which lies on both sides", interval)


def _is_bound(said: Said, e: Estimate) -> Verdict:
    if e.kind == "bound":
        return _side(said, e, is_most=True)
    if (e.reason or "").startswith("not computable"):
        return Verdict(NOT_COMPUTABLE, f"what is missing: {(e.reason or '').removeprefix('not computable: ')}")
    return Verdict(NOT_SUPPORTED, f"the figure is {e.reason or 'an estimate, no bound'}")


def _of_arms(said: Said, e: Estimate) -> Verdict:
    wanted = said.relation
    if e.verdict == wanted:
        return Verdict(REPRODUCED, f"the data say {show(e)}: {wanted}", used_interval=True)
    if e.verdict in _OF_ARMS:
        return Verdict(DIFFERS, f"the data say {show(e)}: {e.verdict}", used_interval=True)
    if e.verdict is None:
        return Verdict(
            NOT_COMPUTABLE, f"what is missing: {(e.reason or 'a comparison').removeprefix('not computable: ')}"
        )
    because = "; ".join(e.warnings) or e.reason or ""
    return Verdict(NOT_SUPPORTED, f"the data say {_point(e)}, and neither a difference nor its absence: {because}")


def _apart(published: float, e: Estimate) -> str:
    """By how much a figure misses what was published."""
    if e.value is None or not isfinite(e.value):
        return "the published figure is not in it"
    if published == 0:
        return f"{show_number(0.0, e.unit, digits=1, plain=e.id in PLAIN_IDS)} was stated"
    if e.value == 0 or e.value / published < 0:
        return f"off by {show_number(abs(e.value - published), e.unit, plain=e.id in PLAIN_IDS)}"
    ratio = e.value / published
    return f"{f'{ratio:.2g}' if ratio < 0.5 else f'{ratio:.3g}'} times the published figure"


def _limit(published: Printed, e: Estimate) -> str:
    return show_number(published.value, e.unit, digits=3, plain=e.id in PLAIN_IDS)


def _point(e: Estimate) -> str:
    return show_value(e) if e.value is not None else "nothing"


_OF_ARMS = ("equivalent", "different")
_RELATIONS: Mapping[str, Callable[[Said, Estimate], Verdict]] = {
    "equals": _equals,
    "at_most": lambda said, e: _side(said, e, is_most=True),
    "at_least": lambda said, e: _side(said, e, is_most=False),
    "is_bound": _is_bound,
    "equivalent": _of_arms,
    "different": _of_arms,
}
