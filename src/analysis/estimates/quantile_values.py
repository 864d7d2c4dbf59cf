"""Assumption: values are independent, of any distribution. Quantiles by order statistics, binomial ranks."""

from math import ceil, floor, inf, log

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, floats, problem


def ranks(n: int, q: float, design_effect: float = 1.0) -> tuple[int, int]:
    """The 1-based ranks r < s whose order statistics hold the q quantile with 95 %; r may be 0 and s may be n + 1.

    A design effect above 1 takes the ranks of n / design_effect values and spreads them over n.
    """
    effective = max(round(n / max(design_effect, 1.0)), 1)
    tail = (1 - CONFIDENCE) / 2
    r, s = int(stats.binom.ppf(tail, effective, q)), int(stats.binom.ppf(1 - tail, effective, q)) + 1
    if effective == n:
        return r, s
    return floor(r * n / effective), n + 1 if s > effective else ceil(s * n / effective)


def least_n(q: float) -> int:
    """The fewest values for a two-sided 95 % interval of the q quantile: 6 for p50, 36 for p90, 72 for p95."""
    tail = (1 - CONFIDENCE) / 2
    return ceil(log(tail) / log(max(q, 1 - q)) - 1e-9)


def quantile(values: ArrayLike, q: float, unit: str, *, n_of: str = "requests", design_effect: float = 1.0) -> Estimate:
    """The q quantile: the smallest value with at least a share q at or below it, between two order statistics.

    Too few values for an upper end leave it infinite and say how many are needed.
    """
    found = np.sort(floats(values))
    why = problem(n_of, found, signed=True) or (None if 0 < q < 1 else "the quantile is not between 0 and 1")
    n = len(found)
    if why is not None:
        return no_interval(None, unit, "order statistics", why, n=n, n_of=n_of)
    r, s = ranks(n, q, design_effect)
    value = float(found[min(max(ceil(q * n - 1e-9) - 1, 0), n - 1)])
    low, high = (float(found[r - 1]) if r >= 1 else -inf), (float(found[s - 1]) if s <= n else inf)
    needed = f"a two-sided interval needs {least_n(q)} {n_of}"
    if low == -inf and high == inf:
        return no_interval(value, unit, "order statistics", needed, n=n, n_of=n_of)
    if low == high:
        return no_interval(
            value, unit, "order statistics", "the values around it are equal: finer clock needed", n=n, n_of=n_of
        )
    warnings = () if low > -inf and high < inf else (needed,)
    assumption = f"{n_of} are independent" + (f", design effect {design_effect:g}" if design_effect > 1 else "")
    return Estimate(
        value, unit, "estimate", f"order statistics {r} and {s}, binomial ranks", low, high, CONFIDENCE, n, n_of,
        assumption, warnings=warnings,
    )  # fmt: skip
