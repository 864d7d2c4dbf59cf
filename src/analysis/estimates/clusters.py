"""Assumption: clusters are independent, whatever happens inside one. Ratios of sums with clusters as the units."""

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, exp_end, logit_ends

_Labels = NDArray[np.int64]


def clustered_share(part: Floats, whole: Floats, cluster: _Labels, n_of: str, assumption: str) -> Estimate:
    """The share sum(part) / sum(whole), inside (0, 1), with its t interval on the log-odds.

    `cluster` numbers the cluster of each row from 0. With the residual sum e of each cluster,
    se = sqrt(B var(e)) / sum(whole). The inputs have been checked by the caller.
    """
    total = float(whole.sum())
    share = float(part.sum()) / total
    if not 0 < share < 1:
        return no_interval(share, "1", "ratio of sums", f"the share is exactly {share:g}", n_of=n_of)
    b, se = _standard_error(part, whole, share, cluster)
    if se <= 0:
        return no_interval(share, "1", "ratio of sums", f"the {n_of} are all alike: no spread seen", n=b, n_of=n_of)
    low, high = logit_ends(share, se / (share * (1 - share)), t_quantile(b - 1))
    method = f"ratio of sums over {b} {n_of}, t on the log-odds"
    return Estimate(share, "1", "estimate", method, low, high, CONFIDENCE, b, n_of, assumption)


def clustered_ratio(
    top: Floats, bottom: Floats, cluster: _Labels, unit: str, n_of: str, assumption: str
) -> Estimate:  # fmt: skip
    """The positive ratio sum(top) / sum(bottom), as tokens per second, with its t interval on the logarithm."""
    ratio = float(top.sum() / bottom.sum())
    if ratio <= 0:
        return no_interval(ratio, unit, "ratio of sums", "the ratio is zero", n_of=n_of)
    b, se = _standard_error(top, bottom, ratio, cluster)
    if se <= 0:
        return no_interval(ratio, unit, "ratio of sums", f"the {n_of} are all alike: no spread seen", n=b, n_of=n_of)
    reach = t_quantile(b - 1) * se / ratio
    method = f"ratio of sums over {b} {n_of}, t on the logarithm"
    low, high = exp_end(log(ratio) - reach), exp_end(log(ratio) + reach)
    return Estimate(ratio, unit, "estimate", method, low, high, CONFIDENCE, b, n_of, assumption)


def t_quantile(df: float, confidence: float = CONFIDENCE) -> float:
    """The two-sided quantile of Student's t."""
    return float(special.stdtrit(df, (1 + confidence) / 2))


def _standard_error(top: Floats, bottom: Floats, ratio: float, cluster: _Labels) -> tuple[int, float]:
    residuals = np.bincount(cluster, top - ratio * bottom)
    b, scale = len(residuals), float(top.max(initial=0.0))
    spread = float(residuals.var(ddof=1)) if b > 1 else 0.0
    # Residuals that differ by less than the arithmetic's own noise are equal.
    return b, sqrt(b * spread) / float(bottom.sum()) if sqrt(spread) > 1e-12 * scale * len(top) ** 0.5 else 0.0
