"""Assumption: values are independent, of any distribution, known only by bucket. Quantiles between bucket edges."""

from math import inf

import numpy as np

from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE
from analysis.estimates.quantile_values import least_n, ranks


def quantile(buckets: Buckets, q: float, unit: str, *, n_of: str = "requests", design_effect: float = 1.0) -> Estimate:
    """The q quantile of a histogram: from the lower edge of the bucket of rank r to the upper edge of that of rank s.

    A bucket has no point inside it, so `value` is None. A rank in the +Inf bucket leaves the upper end infinite.
    """
    why = buckets.problem() or (None if 0 < q < 1 else "the quantile is not between 0 and 1")
    if why is None and buckets.n == 0:
        why = f"no {n_of}"
    if why is not None:
        return no_interval(None, unit, "bucket edges of binomial ranks", why, n_of=n_of)
    n = buckets.n
    r, s = ranks(n, q, design_effect)
    low = float(buckets.lower[_bucket(buckets, r)]) if r >= 1 else 0.0
    high = float(buckets.upper[_bucket(buckets, s)]) if s <= n else inf
    warnings = []
    if s > n or r < 1:
        warnings.append(f"a two-sided interval needs {least_n(q)} {n_of}")
    elif high == inf:
        warnings.append(f"no upper limit: above {buckets.upper[-2]:g}")
    return Estimate(
        None, unit, "estimate", f"bucket edges around order statistics {r} and {s}, binomial ranks", low, high,
        CONFIDENCE, n, n_of, f"{n_of} are independent", reason="no point: buckets hold no values",
        warnings=tuple(warnings),
    )  # fmt: skip


def _bucket(buckets: Buckets, rank: int) -> int:
    return int(np.searchsorted(np.cumsum(buckets.counts), rank))


def interpolated(buckets: Buckets, q: float) -> float | None:
    """Prometheus' histogram_quantile, for plots only: its error does not shrink with n. None when it has no value."""
    if buckets.problem() is not None or buckets.n == 0 or not 0 < q < 1:
        return None
    rank, below = q * buckets.n, np.concatenate(([0.0], np.cumsum(buckets.counts)))
    j = int(np.searchsorted(below[1:], rank))
    if j >= len(buckets.upper) - 1:
        return float(buckets.upper[-2])
    width = float(buckets.upper[j] - buckets.lower[j])
    return float(buckets.lower[j] + width * (rank - below[j]) / buckets.counts[j])
