"""Assumption: units are independent and each says yes or no. A share of units, and a share at a histogram's edges."""

from math import sqrt

import numpy as np
from scipy import special

from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, count_problem

EXACT_BELOW = 10
"""Up to here the exact interval is used: Wilson covers less than it says for so few."""


def wilson(share: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval; `n` may be an effective number and need not be whole."""
    z = float(special.ndtri((1 + confidence) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At a share of 0 or 1 an end is the share itself, but for the noise of binary arithmetic.
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))


def share(k: float, n: float, n_of: str = "requests", assumption: str | None = None) -> Estimate:
    """The share k of n: Wilson; exact (Clopper-Pearson) for n <= 10; one-sided exact when k is 0 or n.

    Finish reasons use this; `assumption` says what could make the units dependent.
    """
    if (why := count_problem(k, n, n_of)) is not None:
        return no_interval(None, "1", "none", why)
    if k != int(k) or n != int(n):
        return no_interval(k / n, "1", "none", "the counts are not whole numbers", n_of=n_of)
    k, n = int(k), int(n)
    if k in (0, n):
        method, edge = "one-sided exact (rule of three)", float((1 - CONFIDENCE) ** (1 / n))
        low, high = (0.0, 1 - edge) if k == 0 else (edge, 1.0)
    elif n <= EXACT_BELOW:
        # The closed form of scipy's binomtest(k, n).proportion_ci("exact"), which searches for it.
        method, tail = "exact (Clopper-Pearson)", (1 - CONFIDENCE) / 2
        low, high = (float(special.betaincinv(*p)) for p in ((k, n - k + 1, tail), (k + 1, n - k, 1 - tail)))
    else:
        method, (low, high) = "Wilson", wilson(k / n, n)
    return Estimate(
        k / n, "1", "estimate", method, low, high, CONFIDENCE, n, n_of, assumption or f"{n_of} are independent"
    )


def finish_share(k: float, n: float) -> Estimate:
    """The share of finished requests with one finish reason."""
    return share(k, n, "requests", "requests are independent; runs of one client's setting make it wider")


def share_at_most(buckets: Buckets, limit: float, n_of: str = "requests") -> Estimate:
    """The share of values at most `limit`: `share` where it is an edge, else the range between the edges around it.

    Off an edge there is no point: `value` is None, `low` and `high` are what the edges below and above allow
    (widened by the exact interval of each), and the method says so.
    """
    if (why := buckets.problem()) is not None:
        return no_interval(None, "1", "none", why)
    if buckets.n == 0:
        return no_interval(None, "1", "none", f"no {n_of}")
    below = np.concatenate(([0.0], np.cumsum(buckets.counts)))
    edges = np.concatenate(([0.0], buckets.upper))
    at = int(np.searchsorted(edges, limit, side="right")) - 1
    if not np.isfinite(limit) or at < 0:
        return no_interval(None, "1", "none", "the limit is missing or negative")
    if np.isclose(edges[at], limit, rtol=1e-12) and at > 0:
        return share(float(below[at]), buckets.n, n_of)
    low, high = share(float(below[at]), buckets.n, n_of), share(float(below[at + 1]), buckets.n, n_of)
    return Estimate(
        None, "1", "estimate", "range between the edges around the limit, with the interval of each",
        0.0 if at == 0 else low.low, 1.0 if np.isinf(edges[at + 1]) else high.high, CONFIDENCE, buckets.n, n_of,
        f"{n_of} are independent",
        reason=f"no point: {limit:g} is between the edges {edges[at]:g} and {edges[at + 1]:g}",
    )  # fmt: skip
