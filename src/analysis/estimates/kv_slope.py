"""Assumption: boots scatter equally around a straight line. Available KV memory against max_num_batched_tokens."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, floats, problem

ASSUMPTION = "boots are independent, scatter equally at each level, and lie on a straight line between the levels"


class _Line(NamedTuple):
    slope: float
    mean_x: float
    mean_y: float
    sxx: float
    s: float
    n: int
    levels: int

    def at(self, x: float) -> float:
        return self.mean_y + self.slope * (x - self.mean_x)

    def factor(self, x: float) -> float:
        """sqrt(1 + x'(X'X)^-1 x): one more boot at x."""
        return sqrt(1 + 1 / self.n + (x - self.mean_x) ** 2 / self.sxx)


def _fit(level: ArrayLike, measure: ArrayLike) -> _Line | str:
    x, y = floats(level), floats(measure)
    if (why := problem("boots", x, y)) is not None:
        return why
    levels = len(np.unique(x))
    if levels < 2:
        return "one level"
    if len(x) == levels:
        return "one boot per level"
    centred = x - x.mean()
    sxx = float(centred @ centred)
    slope = float(centred @ y) / sxx
    residuals = y - y.mean() - slope * centred
    s = sqrt(float(residuals @ residuals) / (len(x) - 2))
    if s <= 1e-12 * float(np.abs(y).max(initial=0.0)):
        return "the boots lie exactly on the line: scatter is below the rounding of the log"
    return _Line(slope, float(x.mean()), float(y.mean()), sxx, s, len(x), levels)


def _notes(line: _Line) -> tuple[str, ...]:
    found = ("linear between the two levels by assumption, never tested",) if line.levels == 2 else ()
    return (*found, "one degree of freedom") if line.n == 3 else found


def slope(level: ArrayLike, measure: ArrayLike, unit: str) -> Estimate:
    """Change of the measure per unit of level (per batch token), least squares with boots as units, t with n - 2."""
    line = _fit(level, measure)
    if isinstance(line, str):
        return no_interval(_bare_slope(level, measure), unit, "least squares", line, n_of="boots")
    reach = t_quantile(line.n - 2) * line.s / sqrt(line.sxx)
    return Estimate(
        line.slope, unit, "estimate", "least squares, t", line.slope - reach, line.slope + reach, CONFIDENCE, line.n,
        "boots", ASSUMPTION, warnings=_notes(line),
    )  # fmt: skip


def _bare_slope(level: ArrayLike, measure: ArrayLike) -> float | None:
    x, y = floats(level), floats(measure)
    if problem("boots", x, y) is not None or np.ptp(x) == 0:
        return None
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred))


def predict(level: ArrayLike, measure: ArrayLike, at: float, unit: str) -> Estimate:
    """The measure of one more boot at level `at`, with its 95 % prediction interval."""
    line = _fit(level, measure)
    if isinstance(line, str):
        return no_interval(None, unit, "least squares, prediction of one boot", line, n_of="boots")
    reach = t_quantile(line.n - 2) * line.s * line.factor(at)
    return Estimate(
        line.at(at), unit, "estimate", "least squares, prediction of one boot", line.at(at) - reach,
        line.at(at) + reach, CONFIDENCE, line.n, "boots", ASSUMPTION, warnings=_notes(line),
    )  # fmt: skip


def refusal_probability(level: ArrayLike, measure: ArrayLike, at: float, floor: float) -> Estimate:
    """The probability that a boot at level `at` has less than `floor` and is refused.

    `floor` is the need of one request at `at` itself: for sliding-window layers it grows with the batch tokens.
    """
    line = _fit(level, measure)
    if isinstance(line, str):
        return no_interval(None, "1", "t prediction", line, n_of="boots")
    got = refusal_probability_from(line.at(at), floor, line.s, line.n - 2, line.factor(at))
    return got.with_warnings(*_notes(line))


def refusal_probability_from(
    predicted: float, floor: float, sd: float, df: float, factor: float = 1.0
) -> Estimate:  # fmt: skip
    """The same from a predicted mean and a scatter measured elsewhere: T(-(predicted - floor) / (sd factor)).

    `factor` is sqrt(1 + leverage); `df` may be inf for a known scatter.
    """
    if not (np.isfinite([predicted, floor, sd, factor]).all() and sd > 0 and factor > 0 and df > 0):
        return no_interval(None, "1", "t prediction", "the prediction, the floor or the scatter is not known")
    z = -(predicted - floor) / (sd * factor)
    chance = float(stats.norm.cdf(z) if np.isinf(df) else stats.t.cdf(z, df))
    return no_interval(
        chance, "1", "t prediction", "the chance carries the scatter of the boots already",
        n=None if np.isinf(df) else int(df), n_of="degrees of freedom", assumption=ASSUMPTION,
    )  # fmt: skip
