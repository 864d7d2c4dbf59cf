"""Assumption: boots of one configuration are independent and log-normal. Spread, mean and the next boot."""

from collections.abc import Callable
from math import atan, exp, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, floats, problem

ASSUMPTION = "boots of one configuration are independent and their logarithms normal"
USELESS_FACTOR = 10.0
"""A prediction wider than this factor either way limits nothing and is not printed as an interval."""


def _logs(values: ArrayLike) -> tuple[Floats, str | None]:
    found = floats(values)
    why = problem("boots", found, positive=True)
    if why is None and len(found) < 2:
        why = "one boot: scatter was not measured"
    if why is None and np.ptp(found) == 0:
        why = "the boots are identical to the last digit: scatter is below the rounding of the log"
    return (np.log(found) if why is None else found), why


def spread(values: ArrayLike) -> Estimate:
    """Standard deviation of the logarithms (about the relative spread) with its chi-square interval."""
    logs, why = _logs(values)
    n = len(logs)
    if why is not None:
        return no_interval(None, "1", "sd of logarithms", why, n=n, n_of="boots")
    s = float(logs.std(ddof=1))
    low, high = _sd_ends(s, n - 1)
    warnings = ("two boots give a floor for the spread, no ceiling and no shape",) if n == 2 else ()
    return Estimate(
        s, "1", "estimate", "sd of logarithms, chi-square", low, high, CONFIDENCE, n, "boots", ASSUMPTION,
        warnings=warnings,
    )  # fmt: skip


def next_boot(values: ArrayLike, unit: str) -> Estimate:
    """Geometric mean and the 95 % prediction interval of one more boot: times or over exp(t s sqrt(1 + 1/n))."""
    return _geometric(values, unit, "next boot, t on logarithms", lambda n: sqrt(1 + 1 / n))


def mean_boot(values: ArrayLike, unit: str) -> Estimate:
    """Geometric mean over boots with its t interval on logarithms."""
    return _geometric(values, unit, "geometric mean, t on logarithms", lambda n: sqrt(1 / n))


def _geometric(values: ArrayLike, unit: str, method: str, widen: Callable[[int], float]) -> Estimate:
    logs, why = _logs(values)
    n = len(logs)
    if why is not None:
        value = float(logs[0]) if n and np.isfinite(logs[0]) and logs[0] > 0 and np.ptp(logs) == 0 else None
        return no_interval(value, unit, method, why, n=n, n_of="boots", assumption=ASSUMPTION)
    centre, s = float(logs.mean()), float(logs.std(ddof=1))
    reach = t_quantile(n - 1) * s * widen(n)
    if reach > log(USELESS_FACTOR):
        return no_interval(
            exp(centre), unit, method, f"no useful limit from {n} boots; one more boot narrows it most",
            n=n, n_of="boots", assumption=ASSUMPTION,
        )  # fmt: skip
    return Estimate(
        exp(centre), unit, "estimate", method, exp(centre - reach), exp(centre + reach), CONFIDENCE, n, "boots",
        ASSUMPTION,
    )  # fmt: skip


def seen_range(values: ArrayLike, unit: str) -> Estimate:
    """The range seen holds the next boot with probability (n - 1)/(n + 1), whatever the distribution."""
    found = floats(values)
    n = len(found)
    why = problem("boots", found, signed=True) or ("one boot: scatter was not measured" if n < 2 else None)
    if why is not None:
        return no_interval(None, unit, "range of the boots seen", why, n=n, n_of="boots")
    return Estimate(
        float(np.median(found)), unit, "estimate", "range of the boots seen, holds the next", float(found.min()),
        float(found.max()), (n - 1) / (n + 1), n, "boots", "boots are exchangeable",
    )  # fmt: skip


def ratio_of_spreads(a: ArrayLike, b: ArrayLike) -> Estimate:
    """sd(log a) / sd(log b) of two measures on the same boots: Pitman-Morgan interval, by inversion of its test."""
    logs_a, why_a = _logs(a)
    logs_b, why_b = _logs(b)
    n, method = len(logs_a), "Pitman-Morgan"
    why = why_a or why_b or ("the two measures are not of the same boots" if n != len(logs_b) else None)
    if why is not None:
        return no_interval(None, "x", method, why, n=n, n_of="boots")
    ratio = float(logs_a.std(ddof=1) / logs_b.std(ddof=1))
    if n == 2:
        return no_interval(
            ratio, "x", method, "undefined for two boots; four settle it", n=n, n_of="boots",
            warnings=(
                "equal spreads differ by so much or more, either way, "
                f"with probability {two_boots_chance(ratio):.2g}",
            ),
        )  # fmt: skip
    r = float(np.corrcoef(logs_a, logs_b)[0, 1])
    t = t_quantile(n - 2)
    k = 1 + 2 * (1 - r * r) * t * t / (n - 2)
    if k - 1 < 1e-12:
        return no_interval(ratio, "x", method, "the two measures move as one: exactly proportional", n=n, n_of="boots")
    low, high = (ratio * sqrt(k + sign * sqrt(k * k - 1)) for sign in (-1, 1))
    return Estimate(ratio, "x", "estimate", method, low, high, CONFIDENCE, n, "boots", ASSUMPTION)


def two_boots_chance(ratio: float) -> float:
    """Probability that two independent log differences of equal spread differ by this factor or more, either way."""
    return 4 / pi * atan(min(ratio, 1 / ratio))


def pooled_spread(arms: list[ArrayLike]) -> Estimate:
    """Standard deviation of logarithms pooled within arms: sum of squares over sum of (n - 1)."""
    found = [floats(arm) for arm in arms]
    n, method = sum(map(len, found)), "sd of logarithms pooled within arms, chi-square"
    if not found or any(problem("boots", arm, positive=True) for arm in found):
        return no_interval(None, "1", method, "an arm has no boots or values that are not positive", n=n, n_of="boots")
    df = n - len(found)
    if df < 1:
        return no_interval(None, "1", method, "one boot per arm", n=n, n_of="boots")
    squares = sum(float(((logs := np.log(arm)) - logs.mean()) @ (logs - logs.mean())) for arm in found)
    if squares <= 0:
        return no_interval(None, "1", method, "the boots of each arm are identical", n=n, n_of="boots")
    s = sqrt(squares / df)
    low, high = _sd_ends(s, df)
    return Estimate(
        s, "1", "estimate", method, low, high, CONFIDENCE, n, "boots", f"{ASSUMPTION}; equal scatter in all arms",
        warnings=("assumes equal scatter; never pool over machines or engine versions",),
    )  # fmt: skip


def _sd_ends(s: float, df: int) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    return s * sqrt(df / float(stats.chi2.ppf(1 - tail, df))), s * sqrt(df / float(stats.chi2.ppf(tail, df)))
