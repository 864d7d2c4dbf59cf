"""Assumption: runs are independent and log-normal. The ratio of two arms: different, equivalent, or cannot tell."""

import warnings
from dataclasses import replace
from math import exp, expm1

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, exp_end, floats, problem
from analysis.estimates.runs_needed import MOST_RUNS, pairs_needed, runs_needed, runs_to_show

MARGIN = 0.05
"""The equivalence margin where none was declared: ratios between 1/1.05 and 1.05 count as the same."""
EQUIVALENCE_CONFIDENCE = 0.90
"""Two one-sided 5 % tests are one 90 % interval inside the margin."""


def compare(
    a: ArrayLike, b: ArrayLike, *, paired: bool = False, margin: float | None = None, family: int = 1
) -> Estimate:
    """The ratio mean(a) / mean(b) of runs, on logarithms, with `verdict`.

    `paired`: a[i] and b[i] ran in the same session (t of differences); otherwise Welch's t. `margin` must have been
    declared before the runs; the default is 5 % and said so. Verdicts: different, equivalent (the 90 % interval lies
    inside the margin), cannot_tell (with the further runs that would decide), no_replicates. `family`: of how many
    comparisons this is one; the intervals of all hold together at 95 % (Bonferroni).
    """
    x, y = floats(a), floats(b)
    method = "paired t on logarithms" if paired else "Welch's t on logarithms"
    why = problem("runs", x, positive=True) or problem("runs", y, positive=True)
    if why is None and paired and len(x) != len(y):
        why = "runs: pairs are incomplete"
    if why is not None:
        return no_interval(None, "x", method, why, n_of="runs")
    x, y = np.log(x), np.log(y)
    ratio, n = exp(float(x.mean() - y.mean())), min(len(x), len(y))
    if n < 2:
        return _single(ratio, method, n)
    if _spread(x, y, paired) <= 1e-12 * max(1.0, float(np.abs(x).max())):
        same = no_interval(ratio, "x", method, "the runs of each arm are identical", n=n, n_of="runs")
        return replace(same, verdict="cannot_tell", warnings=("no scatter was seen, so none can be compared with",))
    with warnings.catch_warnings():  # one arm may be identical to the last digit, as pinned memory is: that is no fault
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.ttest_rel(x, y) if paired else stats.ttest_ind(x, y, equal_var=False)
    outer, inner = (result.confidence_interval(c) for c in (1 - (1 - CONFIDENCE) / family, EQUIVALENCE_CONFIDENCE))
    method += ", Bonferroni" if family > 1 else ""
    bound = log1p_margin(MARGIN if margin is None else margin)
    verdict = _verdict(outer, inner, bound)
    notes = () if margin is not None else (f"margin {MARGIN:.0%} by default, not declared",)
    if verdict == "cannot_tell":
        notes = (*notes, further_runs(x, y, paired, expm1(bound)))
    elif verdict == "equivalent" and (outer.low > 0 or outer.high < 0):
        notes = (*notes, "a difference was shown, but it is smaller than the margin")
    return Estimate(
        ratio, "x", "estimate", method, exp_end(outer.low), exp_end(outer.high), CONFIDENCE, n,
        "pairs of runs" if paired else "runs per arm", "runs are independent, sessions interleaved", warnings=notes,
        verdict=verdict, sensitivity={"90 % for equivalence": (exp_end(inner.low), exp_end(inner.high))},
    )  # fmt: skip


def log1p_margin(margin: float) -> float:
    """The margin on the logarithm: a ratio between 1/(1 + m) and 1 + m is the same, whichever arm is on top."""
    return float(np.log1p(abs(margin)))


def _verdict(outer: object, inner: object, bound: float) -> str:
    if -bound < inner.low and inner.high < bound:  # type: ignore[attr-defined]
        return "equivalent"
    return decided(exp_end(outer.low), exp_end(outer.high))  # type: ignore[attr-defined]


def decided(low: float, high: float) -> str:
    """What the interval of a ratio says of a difference: `different` when 1 lies outside it, else `cannot_tell`."""
    return "different" if low > 1 or high < 1 else "cannot_tell"


def _single(ratio: float, method: str, n: int) -> Estimate:
    return Estimate(
        ratio, "x", "estimate", method, n=n, n_of="runs", reason="one run per arm", verdict="no_replicates",
        warnings=("run-to-run scatter was not measured; two runs of each arm give a first interval",),
    )  # fmt: skip


def _spread(x: Floats, y: Floats, paired: bool) -> float:
    return float(np.ptp(x - y)) if paired else float(max(np.ptp(x), np.ptp(y)))


def further_runs(x: Floats, y: Floats, paired: bool, margin: float) -> str:
    """How many further runs would decide, from logarithms: for equivalence if the arms are equal, for what was seen.

    At a power of 80 %, the scatter staying as it was seen.
    """
    unit, n = ("pair", len(x)) if paired else ("run", min(len(x), len(y)))
    sd = float((x - y).std(ddof=1)) if paired else float(np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2))
    equal = pairs_needed(sd, margin) if paired else runs_needed(sd, margin)
    seen = abs(float(x.mean() - y.mean()))
    as_seen = runs_to_show(seen, sd, paired=paired)
    said = f"{_further(equal, n, unit)} would show equivalence within {margin:.0%} if the arms are equal"
    if expm1(seen) > margin:  # a difference inside the margin is not worth being shown
        said += f", {_further(as_seen, n, unit)} a difference as large as seen ({expm1(seen):.0%})"
    return f"at this scatter {said}"


def _further(needed: int, n: int, unit: str) -> str:
    more = max(needed - n, 1)
    many = f"more than {MOST_RUNS:,} further" if needed > MOST_RUNS else f"about {more:,} further"
    return f"{many} {unit}{'' if more == 1 else 's'}{' per arm' if unit == 'run' else ''}"


def scatter_if_equal(values: ArrayLike) -> Estimate:
    """One run per arm: the scatter of runs *if* the arms are equal, from the range of the logarithms.

    E[range] and its 95 % limits are those of the range of k standard normal values.
    """
    found = floats(values)
    why = problem("runs", found, positive=True) or ("one run" if len(found) < 2 else None)
    if why is None and np.ptp(found) == 0:
        why = "the runs are identical"
    if why is not None:
        return no_interval(None, "1", "range of single runs", why, n_of="runs")
    k, width = len(found), float(np.ptp(np.log(found)))
    law = stats.studentized_range(k, np.inf)
    tail = (1 - CONFIDENCE) / 2
    middle = float(2 * np.trapezoid(stats.norm.ppf(g := np.linspace(1e-7, 1 - 1e-7, 20001)) * k * g ** (k - 1), g))
    return Estimate(
        width / middle, "1", "estimate", "range of single runs", width / float(law.ppf(1 - tail)),
        width / float(law.ppf(tail)), CONFIDENCE, k, "runs", "the arms are equal",
    )  # fmt: skip


def against_base(base: ArrayLike, arms: list[ArrayLike]) -> tuple[Estimate, ...]:
    """Each arm over one base, simultaneous 95 % intervals (Dunnett), in the order of `arms`."""
    logs, why = _family([base, *arms])
    if why is not None:
        return tuple(no_interval(None, "x", "Dunnett", why, n_of="runs") for _ in arms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.dunnett(*logs[1:], control=logs[0], rng=np.random.default_rng(0))
        ends = result.confidence_interval(CONFIDENCE)
    lows, highs = floats(ends.low), floats(ends.high)
    return tuple(_member(logs[i + 1], logs[0], lows[i], highs[i], "Dunnett") for i in range(len(arms)))


def all_pairs(arms: list[ArrayLike]) -> dict[tuple[int, int], Estimate]:
    """Every arm i over every later arm j, simultaneous 95 % intervals (Tukey)."""
    logs, why = _family(arms)
    pairs = [(i, j) for i in range(len(arms)) for j in range(i + 1, len(arms))]
    if why is not None:
        return {pair: no_interval(None, "x", "Tukey", why, n_of="runs") for pair in pairs}
    ends = stats.tukey_hsd(*logs).confidence_interval(CONFIDENCE)
    lows, highs = np.asarray(ends.low), np.asarray(ends.high)
    return {(i, j): _member(logs[i], logs[j], float(lows[i, j]), float(highs[i, j]), "Tukey") for i, j in pairs}


def _family(arms: list[ArrayLike]) -> tuple[list[Floats], str | None]:
    found = [floats(arm) for arm in arms]
    why = next((w for arm in found if (w := problem("runs", arm, positive=True))), None)
    if why is None and (len(found) < 2 or any(len(arm) < 2 for arm in found)):
        why = "one run per arm"
    logs = [np.log(arm) for arm in found] if why is None else found
    if why is None and max(float(np.ptp(arm)) for arm in logs) <= 1e-12:
        why = "the runs of each arm are identical"
    return logs, why


def _member(x: Floats, y: Floats, low: float, high: float, name: str) -> Estimate:
    return Estimate(
        exp(float(x.mean() - y.mean())), "x", "estimate", f"{name}, simultaneous, on logarithms", exp_end(low),
        exp_end(high), CONFIDENCE, min(len(x), len(y)), "runs per arm",
        "runs are independent, equal scatter in all arms",
        verdict=decided(exp_end(low), exp_end(high)),
    )  # fmt: skip
