"""Assumption: each decode step reads all weights of a rank once. Steps per second against the memory's bandwidth."""

from dataclasses import replace
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.clusters import clustered_ratio
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import floats, problem

UNIT = "1/s"
ASSUMPTION = (
    "dense model: a step reads every weight once. Cache reads come on top (fewer steps); experts or untied embeddings "
    "that a step does not read would allow more"
)
BLOCKS, LEAST_STEPS = 10, 50


def steps_ceiling(bandwidth_bytes_per_s: float, weight_bytes: float, rounding_bytes: float = 0.0) -> Estimate:
    """The most decode steps a second that one rank's memory allows: bandwidth over the bytes of its weights.

    `rounding_bytes` is half a unit of the last printed digit of the weights.
    """
    method = "memory bandwidth over bytes of weights, one rank"
    values = (bandwidth_bytes_per_s, weight_bytes, rounding_bytes)
    if not all(isfinite(v) for v in values) or min(values[:2]) <= 0 or not 0 <= rounding_bytes < weight_bytes:
        return no_interval(None, UNIT, method, "bandwidth and weights are numbers above zero")
    low, high = (bandwidth_bytes_per_s / (weight_bytes + sign * rounding_bytes) for sign in (1, -1))
    return Estimate(
        bandwidth_bytes_per_s / weight_bytes, UNIT, "bound", method, low, high, assumption=ASSUMPTION,
        warnings=("the ends are the rounding of the printed weights",) if rounding_bytes else (),
    )  # fmt: skip


def steps_per_second(elapsed_s: ArrayLike) -> Estimate:
    """Steps per second of step time, from the seconds of each step in order; ten blocks of equal time are the units."""
    seconds = floats(elapsed_s)
    method = "steps over their seconds"
    if (why := problem("steps", seconds)) is not None or seconds.sum() <= 0:
        return no_interval(None, UNIT, method, why or "no step took any time")
    value = len(seconds) / float(seconds.sum())
    if len(seconds) < LEAST_STEPS:
        return no_interval(value, UNIT, method, f"fewer than {LEAST_STEPS} steps", n=len(seconds), n_of="steps")
    middle = np.cumsum(seconds) - seconds / 2
    block = np.minimum((middle / seconds.sum() * BLOCKS).astype(np.int64), BLOCKS - 1)
    block = np.unique(block, return_inverse=True)[1]
    found = clustered_ratio(
        np.ones_like(seconds), seconds, block, UNIT, "blocks of time", "blocks of time are independent"
    )
    return replace(
        found, warnings=("engine steps in the order of the log; a step that also prefills is not among them",)
    )


def bandwidth_share(achieved: Estimate, ceiling: Estimate) -> Estimate:
    """The share of the memory's bandwidth that reading the weights takes at the achieved decode steps per second.

    A lower limit of what is used: a step also reads the cache. Above 1 the assumption of the ceiling is wrong.
    """
    method = "achieved decode steps per second over their ceiling"
    if not achieved.value or not ceiling.value:
        return no_interval(None, "1", method, str((ceiling if achieved.value else achieved).reason))
    value = achieved.value / ceiling.value
    notes: tuple[str, ...] = ("weights only: reading the cache comes on top",)
    if value > 1:
        notes += ("above 1: a step reads less than the weights as printed, or the bandwidth is not this machine's",)
    if achieved.low is None or achieved.high is None:
        return no_interval(value, "1", method, achieved.reason or "no interval", n=achieved.n, n_of=achieved.n_of,
                           warnings=notes)  # fmt: skip
    low, high = achieved.low / (ceiling.high or ceiling.value), achieved.high / (ceiling.low or ceiling.value)
    return Estimate(
        value, "1", "estimate", method, low, high, achieved.confidence, achieved.n, achieved.n_of,
        f"{achieved.assumption}; {ASSUMPTION}", warnings=notes,
    )  # fmt: skip
