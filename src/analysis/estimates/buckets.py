"""A histogram with its exact sum: what the buckets say about the second moment of the values inside them."""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from analysis.estimates.inputs import ROUNDING, Floats, floats

_SMALL_TILT = 1e-3
"""Below this the closed forms of the truncated exponential lose digits and their series are exact to 1e-12."""


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """Counts of values in (lower, upper] and the exact sum of the values.

    `upper` ends with +inf; the first bucket starts at 0. Build it with `from_cumulative`, and ask `problem` before use.
    """

    upper: Floats
    counts: Floats
    total: float

    @classmethod
    def from_cumulative(cls, le: ArrayLike, cumulative: ArrayLike, total: float) -> "Buckets":
        """From a Prometheus histogram: its `le` edges (any order), the cumulative `_bucket` values and `_sum`."""
        edges, cum = floats(le), floats(cumulative)
        if len(edges) != len(cum):
            return cls(edges, np.full(len(edges), np.nan), float(total))
        order = np.argsort(edges, kind="stable")
        return cls(edges[order], np.diff(cum[order], prepend=0.0), float(total))

    def __sub__(self, earlier: "Buckets") -> "Buckets":
        """What was counted since an earlier page of the same life; `problem` finds a counter that fell."""
        if len(self.upper) != len(earlier.upper) or not np.array_equal(self.upper, earlier.upper):
            return Buckets(self.upper, np.full(len(self.upper), np.nan), self.total - earlier.total)
        return Buckets(self.upper, self.counts - earlier.counts, self.total - earlier.total)

    @property
    def n(self) -> int:
        """Number of values; 0 when the counts are not usable."""
        total = float(self.counts.sum())
        return round(total) if np.isfinite(total) else 0

    @property
    def lower(self) -> Floats:
        """Lower edges; the first is 0."""
        return np.concatenate(([0.0], self.upper[:-1]))

    @property
    def open_top(self) -> int:
        """Number of values above the last finite edge."""
        return round(float(self.counts[-1])) if len(self.counts) and np.isfinite(self.counts[-1]) else 0

    def bucket_problem(self) -> str | None:
        """Why the buckets cannot be used, whatever the sum is, or None."""
        if len(self.upper) < 2:
            return "no buckets"
        if np.isnan(self.upper).any() or (np.diff(self.upper) <= 0).any() or self.upper[0] <= 0:
            return "bucket edges do not increase"
        if self.upper[-1] != inf:
            return "the +Inf bucket is missing"
        if not np.isfinite(self.counts).all():
            return "bucket counts are missing or the edges changed"
        if (self.counts < 0).any():
            return "bucket counts decrease"
        return None

    def problem(self) -> str | None:
        """Why the histogram contradicts itself or cannot be used, or None."""
        if (why := self.bucket_problem()) is not None:
            return why
        if not np.isfinite(self.total) or self.total < 0:
            return "the sum is missing or negative"
        low, high = _sum_range(self)
        slack = ROUNDING * max(self.total, low)
        if self.total < low - slack or self.total > high + slack:
            return "the sum does not fit the buckets"
        return None


def _sum_range(b: Buckets) -> tuple[float, float]:
    filled = b.counts > 0
    return float(b.counts @ b.lower), float((b.counts[filled] * b.upper[filled]).sum())


def m2_bounds(b: Buckets) -> tuple[float, float]:
    """Least and largest possible sum of squares of the values, given bucket counts and the exact sum.

    Largest: inside a bucket the sum of squares lies below the chord between its edges, whose slope (lower + upper)
    rises from bucket to bucket, so the slack above the lower edges goes to the highest buckets first; what reaches
    the open bucket goes to one value. Least: every value as near to one common level as its bucket allows.
    `b.problem()` must be None.
    """
    largest = _m2_largest(b)
    return min(_m2_least(b), largest), largest


def _m2_largest(b: Buckets) -> float:
    lower, slack = b.lower, b.total - float(b.counts @ b.lower)
    squares = float(b.counts @ lower**2)
    if b.counts[-1] > 0:
        return float(squares + 2 * lower[-1] * max(slack, 0.0) + max(slack, 0.0) ** 2)
    for j in range(len(b.counts) - 2, -1, -1):
        given = min(slack, b.counts[j] * (b.upper[j] - lower[j]))
        if given > 0:
            squares += given * (b.upper[j] + lower[j])
            slack -= given
    return float(squares)


def _m2_least(b: Buckets) -> float:
    filled = b.counts > 0
    counts, lower, upper = b.counts[filled], b.lower[filled], b.upper[filled]
    if not len(counts):
        return 0.0
    # With the level at the top of bucket j, lower buckets sit at their tops and higher ones at their bottoms.
    tops, bottoms = np.concatenate(([0.0], np.cumsum((counts * upper)[:-1]))), counts * lower
    rest = tops + bottoms.sum() - np.cumsum(bottoms)
    j = min(int(np.searchsorted(rest + counts * upper, b.total)), len(counts) - 1)
    level = np.clip((b.total - rest[j]) / counts[j], lower[j], upper[j])
    return float(counts @ np.clip(level, lower, upper) ** 2)


def m2_mid(b: Buckets) -> float:
    """Point estimate of the sum of squares: inside each bucket a truncated exponential, one tilt for all of them.

    The tilt is solved so that the bucket means add to the exact sum; this is the least informative spread of the
    values that keeps counts and sum. Clipped to `m2_bounds`. `b.problem()` must be None.
    """
    least, largest = m2_bounds(b)
    filled = b.counts > 0
    counts, lower, upper = b.counts[filled], b.lower[filled], b.upper[filled]
    if not len(counts) or largest <= least:
        return least
    scale = float(lower.max() or upper.max())

    def excess(v: float) -> float:
        return float(counts @ _moments(np.sinh(v) / scale, lower, upper)[0]) - b.total

    left, right = -30.0, -1e-9 if upper[-1] == inf else 30.0
    if excess(left) >= 0:
        return least
    if excess(right) <= 0:
        return largest
    tilt = np.sinh(optimize.brentq(excess, left, right, xtol=1e-9)) / scale
    return float(np.clip(counts @ _moments(tilt, lower, upper)[1], least, largest))


def _moments(tilt: float, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Mean and mean square in each bucket of a density proportional to exp(tilt x)."""
    is_open = upper == inf
    width = np.where(is_open, 1.0, upper - lower)
    z = np.clip(tilt * width, -700, 700)
    safe = np.where(np.abs(z) < _SMALL_TILT, 1.0, z)
    head = -1 / np.expm1(-safe)
    first = np.where(np.abs(z) < _SMALL_TILT, 0.5 + z / 12, head - 1 / safe)
    second = np.where(np.abs(z) < _SMALL_TILT, 1 / 3 + z / 12 + z**2 / 360, head - 2 * (head - 1 / safe) / safe)
    first, second = width * first, width**2 * second
    if is_open.any():
        first[is_open], second[is_open] = -1 / tilt, 2 / tilt**2
    return lower + first, lower**2 + 2 * lower * first + second
