"""Assumption: boots scatter equally around a straight line. Available KV memory against max_num_batched_tokens."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, floats, problem

ASSUMPTION = "boots are independent, scatter equally at each level, and lie on a straight line between the levels"


ROUNDED_SCATTER = "the boots scatter less than the log rounds; its rounding was taken for their scatter"


class _Line(NamedTuple):
    slope: float
    mean_x: float
    mean_y: float
    sxx: float
    s: float
    n: int
    levels: int


class Prediction(NamedTuple):
    """One more boot: its mean, the scatter of boots with its degrees of freedom, and sqrt(1 + leverage)."""

    mean: float
    sd: float
    df: int
    factor: float
    n: int
    notes: tuple[str, ...] = ()

    @property
    def reach(self) -> float:
        """Half the width of the 95 % prediction interval."""
        return t_quantile(self.df) * self.sd * self.factor


def _fit(level: ArrayLike, measure: ArrayLike, least_sd: float = 0.0) -> _Line | str:
    x, y = floats(level), floats(measure)
    if (why := problem("boots", x, y, signed=True)) is not None:  # a boot may print that less than nothing is left
        return why
    levels = len(np.unique(x))
    if levels < 2:
        return "one level"
    if len(x) == levels:
        return "one boot per level"
    centred = x - x.mean()
    sxx = float(centred @ centred)
    slope = _slope(centred, y)
    residuals = y - y.mean() - slope * centred
    s = max(sqrt(float(residuals @ residuals) / (len(x) - 2)), least_sd)
    if s <= 1e-12 * float(np.abs(y).max(initial=0.0)):
        return "the boots lie exactly on the line: scatter is below the rounding of the log"
    return _Line(slope, float(x.mean()), float(y.mean()), sxx, s, len(x), levels)


def _notes(line: _Line, least_sd: float = 0.0) -> tuple[str, ...]:
    found = ("linear between the two levels by assumption, never tested",) if line.levels == 2 else ()
    found = (*found, "one degree of freedom") if line.n == 3 else found
    return (*found, ROUNDED_SCATTER) if 0 < line.s <= least_sd else found


def prediction(level: ArrayLike, measure: ArrayLike, at: float, least_sd: float = 0.0) -> Prediction | str:
    """One more boot at level `at`, from boots at two levels or more, or at this one level; or why there is none.

    `least_sd` stands in for a scatter that the log's rounding hides (half a unit of its last digit).
    """
    x, y = floats(level), floats(measure)
    if len(x) and len(x) == len(y) and (x == at).all() and problem("boots", x, y, signed=True) is None:
        if len(x) < 2:
            return "one boot: scatter was not measured"
        seen = float(y.std(ddof=1))
        if (sd := max(seen, least_sd)) <= 0:
            return "the boots are identical to the last digit: scatter is below the rounding of the log"
        notes = (ROUNDED_SCATTER,) if seen <= least_sd else ()
        return Prediction(float(y.mean()), sd, len(x) - 1, sqrt(1 + 1 / len(x)), len(x), notes)
    line = _fit(level, measure, least_sd)
    if isinstance(line, str):
        return line
    mean = line.mean_y + line.slope * (at - line.mean_x)
    factor = sqrt(1 + 1 / line.n + (at - line.mean_x) ** 2 / line.sxx)
    return Prediction(mean, line.s, line.n - 2, factor, line.n, _notes(line, least_sd))


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
    return _slope(x - x.mean(), y)


def _slope(centred: Floats, y: Floats) -> float:
    """Of y on what is centred: none at all where y is one value, whatever the last digit of a sum says."""
    return float(centred @ y) / float(centred @ centred) if np.ptp(y) > 0 else 0.0


def predict(level: ArrayLike, measure: ArrayLike, at: float, unit: str, least_sd: float = 0.0) -> Estimate:
    """The measure of one more boot at level `at`, with its 95 % prediction interval."""
    got = prediction(level, measure, at, least_sd)
    if isinstance(got, str):
        return no_interval(None, unit, "least squares, prediction of one boot", got, n_of="boots")
    return Estimate(
        got.mean, unit, "estimate", "least squares, prediction of one boot", got.mean - got.reach,
        got.mean + got.reach, CONFIDENCE, got.n, "boots", ASSUMPTION, warnings=got.notes,
    )  # fmt: skip


def refusal_probability(
    level: ArrayLike, measure: ArrayLike, at: float, floor: float, least_sd: float = 0.0
) -> Estimate:
    """The probability that a boot at level `at` has less than `floor` and is refused.

    `floor` is the need of one request at `at` itself: for sliding-window layers it grows with the batch tokens.
    """
    got = prediction(level, measure, at, least_sd)
    if isinstance(got, str):
        return no_interval(None, "1", "t prediction", got, n_of="boots")
    return refusal_probability_from(got.mean, floor, got.sd, got.df, got.factor).with_warnings(*got.notes)


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
