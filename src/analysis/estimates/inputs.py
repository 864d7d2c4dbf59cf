"""The door for data: arrays as float64, and the one sentence why they cannot be used."""

from collections.abc import Sequence
from math import exp, inf, isfinite, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
ROUNDING = 1e-6
"""Relative difference below which two float64 sums of the same terms count as equal."""

_LARGEST = 1e100
"""Beyond this (or below its inverse) squares and ratios leave float64; nothing measured is there."""

_LOG_LARGEST = 700.0


def floats(values: ArrayLike) -> Floats:
    """A flat float64 array; whatever is not a number becomes NaN, so that `problem` names it."""
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        items = values if isinstance(values, Sequence) else [values]
        return np.array([_number(item) for item in items], dtype=np.float64)


def _number(item: object) -> float:
    try:
        return float(item)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


def problem(names: str, *arrays: Floats, positive: bool = False, signed: bool = False) -> str | None:
    """Why arrays cannot be used, or None: unequal lengths, no values, not finite, negative (or zero if `positive`)."""
    if len({len(a) for a in arrays}) > 1:
        return f"{names}: unequal lengths"
    if any(len(a) == 0 for a in arrays):
        return f"no {names}"
    if not all(np.isfinite(a).all() for a in arrays):
        return f"{names}: some values are missing or not finite"
    if any(((size := np.abs(a)) > _LARGEST).any() or ((size > 0) & (size < 1 / _LARGEST)).any() for a in arrays):
        return f"{names}: some values are too large or too small to be measurements"
    if positive and any((a <= 0).any() for a in arrays):
        return f"{names}: some values are zero or negative"
    if not signed and any((a < 0).any() for a in arrays):
        return f"{names}: some values are negative"
    return None


def count_problem(k: float, n: float, names: str) -> str | None:
    """Why k of n is no share, or None."""
    if not (isfinite(k) and isfinite(n)):
        return f"{names}: a count is missing"
    if n <= 0:
        return f"no {names}"
    if k < 0 or k > n:
        return f"{names}: {k:g} of {n:g} is not a share"
    return None


def exp_end(logarithm: float) -> float:
    """An end of an interval back from its logarithm; beyond float64 there is no limit."""
    return exp(logarithm) if logarithm < _LOG_LARGEST else inf


def logit_ends(share: float, se_logit: float, t: float) -> tuple[float, float]:
    """The interval of a share inside (0, 1) from the standard error of its log-odds."""
    centre = log(share / (1 - share))
    return float(special.expit(centre - t * se_logit)), float(special.expit(centre + t * se_logit))
