"""Point values of quantiles over the requests that were recorded, and what a tail of few requests is.

The median is the ordinary one, the mean of the two middle values where their number is even. A tail is the smallest
value with at least that share at or below it (docs/methods.md, section 2).
"""

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.estimate import Estimate
from analysis.estimates.inputs import Floats
from analysis.estimates.quantile_values import least_n


def point(values: Floats, q: float) -> float:
    """The q quantile of at least one value."""
    return float(points(values, np.zeros(len(values)), q)[0])


def points(values: Floats, block: NDArray[Any], q: float) -> Floats:
    """The q quantile of each block's values, in the order of the blocks."""
    order = np.lexsort((values, block))
    ordered = values[order]
    starts = np.flatnonzero(np.diff(block[order], prepend=np.nan))
    n = np.diff(starts, append=len(values))
    if q == 0.5:
        return np.asarray((ordered[starts + (n - 1) // 2] + ordered[starts + n // 2]) / 2)
    return np.asarray(ordered[starts + np.maximum(np.ceil(n * q - 1), 0).astype(int)])


def ordinary(estimate: Estimate, median: float, q: float) -> Estimate:
    """The estimate with the ordinary median in place of the lower middle value; other quantiles as they are.

    A mean of block medians stays, and so does a value whose interval would not hold the median.
    """
    ends = estimate.low is not None and estimate.high is not None
    outside = ends and not (estimate.low or 0) <= median <= (estimate.high or 0)
    if q != 0.5 or estimate.value is None or estimate.method.startswith("paired") or outside:
        return estimate
    return replace(estimate, value=median)


def of_requests(n: int, q: float) -> str:
    """How many requests a quantile is of: `n = 12`; of a tail of too few for an interval, which it is of them.

    q above one half counts from the largest, below from the smallest: both ends are the slow one of their measure.
    """
    if q == 0.5 or n >= least_n(q):
        return f"n = {n:,}"
    rank = n - ceil(q * n - 1e-9) + 1 if q > 0.5 else max(ceil(q * n - 1e-9), 1)
    return f"{ {1: 'slowest', 2: '2nd slowest', 3: '3rd slowest'}.get(rank, f'{rank}th slowest') } of {n}"
