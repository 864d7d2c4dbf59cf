"""Assumption: points are independent. Theil and Sen's slope, the median over all pairs of points, and its interval."""

from math import sqrt

import numpy as np
from scipy import stats

from analysis.estimates.inputs import CONFIDENCE, Floats


def theil_sen(x: Floats, y: Floats) -> tuple[float, tuple[float, float] | None]:
    """The slope of y on x and the ends of its interval; x must not be all one value.

    What scipy.stats.theilslopes says, from the slopes alone: there each pair of points is in memory ten times. With so
    many equal values on both sides that the variance is none there is no interval; there the ends are NaN.
    """
    slopes = _slopes(x, y)
    # Equation 2.6 of Sen (1968), less the repeats of either side.
    n, size = len(x), len(slopes)
    repeats = [k for side in (x, y) for k in np.unique(side, return_counts=True)[1].tolist()]
    variance = (n * (n - 1) * (2 * n + 5) - sum(k * (k - 1) * (2 * k + 5) for k in repeats)) / 18
    reach = -float(stats.norm.ppf((1 - CONFIDENCE) / 2)) * sqrt(max(0.0, variance))
    low, high = max(round((size - reach) / 2) - 1, 0), min(round((size + reach) / 2), size - 1)
    slopes.partition([low, (size - 1) // 2, size // 2, high])
    middle = float((slopes[(size - 1) // 2] + slopes[size // 2]) / 2)
    return middle, (float(slopes[low]), float(slopes[high])) if variance > 0 else None


def _slopes(x: Floats, y: Floats) -> Floats:
    """Of all pairs whose x differ, in one array that is filled a point at a time."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    slopes, filled = np.empty(len(x) * (len(x) - 1) // 2), 0
    for i in range(len(x)):
        first = int(np.searchsorted(x, x[i], side="right"))
        end = filled + len(x) - first
        np.divide(y[first:] - y[i], x[first:] - x[i], out=slopes[filled:end])
        filled = end
    return slopes[:filled]
