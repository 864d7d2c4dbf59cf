"""Assumption: replicas alike scatter normally on the scale taken. Which of many replicas is unlike the others."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.inputs import CONFIDENCE, Floats, floats

LEAST = 6
"""Fewer replicas cannot show which of them is unlike the others."""
Scale = Literal["log", "logit"]


@dataclass(frozen=True, slots=True)
class Unlike:
    """What holds for a further replica that is like the others, and which of those given is not (in their order)."""

    expected: Estimate
    is_unlike: NDArray[np.bool_]


def unlike(values: ArrayLike, scale: Scale, unit: str) -> Unlike:
    """Replicas outside of where a replica like all others would lie, with family-wise error 5 % over all of them.

    Each is held against the mean and the scatter of the others (externally studentised; Bonferroni over replicas), on
    the logarithm or the log-odds. `expected` is the prediction interval for one further replica from those that are
    alike, at the same level. Values that are not inside (0, 1) or not positive are given as NaN and are never unlike.
    """
    y = _forward(floats(values), scale)
    known = np.isfinite(y)
    n, found = int(known.sum()), np.zeros(len(y), np.bool_)
    if not n:
        return Unlike(not_computable(unit, "no replica has this figure"), found)
    if n < LEAST:
        centre = float(_back(np.median(y[known]), scale))
        why = f"fewer than {LEAST} replicas cannot show which is unlike the others"
        return Unlike(no_interval(centre, unit, "median of replicas", why, n=n, n_of="replicas"), found)
    found[known] = _studentised(y[known]) > _limit(n, n - 2)
    return Unlike(_expected(y[known & ~found], n, scale, unit), found)


def _studentised(y: Floats) -> Floats:
    """Distance of each from the mean of the others, in standard errors of such a prediction."""
    n = len(y)
    mean = (y.sum() - y) / (n - 1)
    centred = y - y.mean()
    # Of the others: the sum of squares less the part of the one left out.
    squares = np.maximum((centred**2).sum() - centred**2 * n / (n - 1), 0.0)
    deviation = np.sqrt(squares / (n - 2))
    noise = 1e-12 * np.maximum(np.abs(y).max(), 1.0)
    distance = np.abs(y - mean)
    return np.where(
        deviation > noise,
        distance / (np.maximum(deviation, noise) * sqrt(n / (n - 1))),
        np.where(distance > noise, np.inf, 0.0),
    )


def _limit(n: int, df: int) -> float:
    return float(special.stdtrit(df, 1 - (1 - CONFIDENCE) / (2 * n)))


def _expected(y: Floats, tested: int, scale: Scale, unit: str) -> Estimate:
    m, centre = len(y), float(y.mean())
    method = f"mean of {m} replicas that are alike on the {'logarithm' if scale == 'log' else 'log-odds'}"
    value, scatter = float(_back(centre, scale)), float(y.std(ddof=1)) if m > 1 else 0.0
    if scatter <= 1e-12 * max(abs(centre), 1.0):
        return no_interval(value, unit, method, "the replicas are all alike: no scatter seen", n=m, n_of="replicas")
    reach = _limit(tested, m - 1) * scatter * sqrt(1 + 1 / m)
    low, high = (float(_back(centre + side * reach, scale)) for side in (-1, 1))
    return Estimate(
        value, unit, "estimate", f"{method}; prediction for one more, Bonferroni over {tested}", low, high,
        CONFIDENCE, m, "replicas",
        "replicas that are alike scatter normally on this scale; several that are unlike may hide each other",
    )  # fmt: skip


def _forward(values: Floats, scale: Scale) -> Floats:
    inside = np.where((values > 0) & (values < 1 if scale == "logit" else np.isfinite(values)), values, np.nan)
    return floats(special.logit(inside) if scale == "logit" else np.log(inside))


def _back(y: float | np.floating, scale: Scale) -> float:
    return float(special.expit(y) if scale == "logit" else np.exp(np.minimum(y, 700)))
