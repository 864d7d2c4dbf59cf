"""Assumption: runs are normal with a known scatter. How many runs a comparison needs, before it is made."""

from collections.abc import Callable
from math import ceil, inf, log, sqrt

import numpy as np
from scipy import optimize, special, stats

from analysis.estimates.inputs import CONFIDENCE

POWER = 0.8
MOST_RUNS = 1000
LEAST_RUNS = 3
_GRID = (np.arange(200) + 0.5) / 200


def tost_power(n: int, sd: float, margin: float, true: float = 0.0, *, paired: bool = False) -> float:
    """Probability that n runs per arm (or pairs) show equivalence within `margin`, the arms differing by `true`.

    Everything on logarithms; the scatter seen is averaged over its chi-square law.
    """
    df, error = (n - 1, sd / sqrt(n)) if paired else (2 * n - 2, sd * sqrt(2 / n))
    reach = float(stats.t.ppf(CONFIDENCE, df)) * np.sqrt(stats.chi2.ppf(_GRID, df) / df)
    bound, off = log(1 + margin), log(1 + abs(true))
    above, below = (bound - off) / error - reach, (-bound - off) / error + reach
    return float(np.maximum(special.ndtr(above) - special.ndtr(below), 0).mean())


def runs_needed(sd: float, margin: float, true: float = 0.0, power: float = POWER) -> int:
    """Runs per arm for equivalence within `margin` at this power; 1001 stands for more than a thousand.

    At least three: with two, Welch's degrees of freedom fall to one when the arms' scatters differ by chance.
    """
    return max(LEAST_RUNS, _least(lambda n: tost_power(n, sd, margin, true) >= power))


def pairs_needed(sd: float, margin: float, true: float = 0.0, power: float = POWER) -> int:
    """Pairs of runs for the same; `sd` is that of the differences of logarithms."""
    return _least(lambda n: tost_power(n, sd, margin, true, paired=True) >= power)


def _least(enough: Callable[[int], bool]) -> int:
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return MOST_RUNS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable_difference(n: int, cv: float, power: float = POWER) -> float:
    """The smallest relative difference that n runs per arm show (two-sided 5 %) with this power; inf for n < 2."""
    if n < 2 or not cv > 0:
        return inf
    df = 2 * n - 2
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, df)) * np.sqrt(stats.chi2.ppf(_GRID, df) / df)

    def lack(shift: float) -> float:
        return float((special.ndtr(shift - reach) + special.ndtr(-shift - reach)).mean()) - power

    shift = optimize.brentq(lack, 0.0, 100.0)
    return float(shift) * cv * sqrt(2 / n)


def runs_to_show(difference: float, sd: float, power: float = POWER, *, paired: bool = False) -> int:
    """Runs per arm (or pairs) that show this difference of logarithms with this power; 1001: more than a thousand.

    `sd` is that of the runs, or of the differences of pairs.
    """
    if not sd > 0 or not difference > 0:
        return MOST_RUNS + 1

    def enough(n: int) -> bool:
        df, error = (n - 1, sd / sqrt(n)) if paired else (2 * n - 2, sd * sqrt(2 / n))
        reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, df)) * np.sqrt(stats.chi2.ppf(_GRID, df) / df)
        shift = difference / error
        return float((special.ndtr(shift - reach) + special.ndtr(-shift - reach)).mean()) >= power

    return _least(enough)


def inner_repeats(cost_outer: float, cost_inner: float, sd_within: float, sd_between: float) -> int:
    """Repeats inside one boot that spend the time best (Kalibera and Jones): sqrt(cost ratio x variance ratio), up."""
    if sd_between <= 0 or cost_inner <= 0:
        return 1
    return max(1, ceil(sqrt(cost_outer / cost_inner * sd_within**2 / sd_between**2)))
