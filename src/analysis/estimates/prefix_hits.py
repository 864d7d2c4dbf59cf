"""Assumption: a request hits the cache wholly or not at all. The prefix-cache hit share, requests as units."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.buckets import Buckets, m2_bounds, m2_mid
from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, count_problem, floats, logit_ends, problem
from analysis.estimates.share_edge import wilson

ASSUMPTION = "requests are independent and hit the cache wholly or not at all, whatever their length"
LEAST_HITS = 30
"""With fewer requests that hit, the delta interval covers too little."""


def kish_n(n: float, sum_squares: float, total: float) -> float:
    """Kish's effective number of units of unequal weight: (sum of weights)^2 / sum of squared weights, at most n."""
    return min(total**2 / sum_squares, n)


def hit_share(cached_tokens: float, queried_tokens: float, lengths: Buckets | None) -> Estimate:
    """Cached over queried tokens of one page: Wilson at Kish's effective number of requests.

    `lengths` is the histogram of prompt lengths of the requests queried; without it there is no interval.
    """
    if (why := count_problem(cached_tokens, queried_tokens, "queried tokens")) is not None:
        return no_interval(None, "1", "none", why)
    value = cached_tokens / queried_tokens
    if lengths is None:
        return no_interval(value, "1", "ratio of sums", "tokens are not trials, and prompt lengths are not known")
    if (why := lengths.problem()) is not None or lengths.n == 0 or lengths.total <= 0:
        return no_interval(value, "1", "ratio of sums", f"prompt lengths: {why or 'no requests'}")
    kept = kish_n(lengths.n, m2_mid(lengths), lengths.total)
    worst = kish_n(lengths.n, m2_bounds(lengths)[1], lengths.total)
    return _kish_wilson(value, kept, lengths.n, {"longest prompts the buckets allow": wilson(value, max(worst, 1.0))})


def hit_share_from_effective_n(value: float, n: int, cv: float) -> Estimate:
    """The same where only the coefficient of variation of the prompt lengths is known."""
    if not (0 <= value <= 1) or n < 1 or not np.isfinite(cv) or cv < 0:
        return no_interval(None, "1", "none", "the share, the number of requests or the spread is not usable")
    return _kish_wilson(value, n / (1 + cv**2), n, {})


def hit_share_from_requests(cached_tokens: ArrayLike, prompt_tokens: ArrayLike) -> Estimate:
    """Cached over prompt tokens from requests: delta on the log-odds where at least 30 requests hit, else Kish."""
    hits, lengths = floats(cached_tokens), floats(prompt_tokens)
    if (why := problem("requests", hits, lengths)) is not None:
        return no_interval(None, "1", "none", why)
    if lengths.sum() <= 0 or (hits > lengths).any():
        return no_interval(None, "1", "none", "prompt lengths are zero, or hits exceed them")
    n, value = len(hits), float(hits.sum() / lengths.sum())
    residuals = hits - value * lengths
    if (hits > 0).sum() < LEAST_HITS or value == 1 or residuals.var() == 0:
        return _kish_wilson(value, kish_n(n, float(lengths @ lengths), float(lengths.sum())), n, {})
    se = sqrt(n * float(residuals.var(ddof=1))) / float(lengths.sum())
    t = t_quantile(n - 1)
    low, high = logit_ends(value, se / (value * (1 - value)), t)
    return Estimate(
        value, "1", "estimate", "ratio of sums, delta method on the log-odds", low, high, CONFIDENCE, n, "requests",
        "requests are independent",
    )  # fmt: skip


def _kish_wilson(value: float, effective: float, n: int, sensitivity: dict[str, tuple[float, float]]) -> Estimate:
    low, high = wilson(value, max(effective, 1.0))
    return Estimate(
        value, "1", "estimate", f"Wilson at Kish's effective number {effective:.0f}", low, high, CONFIDENCE, n,
        "requests", ASSUMPTION, sensitivity=sensitivity,
    )  # fmt: skip
