"""Assumption: requests of one block share their luck, blocks do not. Which block of time a request belongs to."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.estimates.inputs import floats

LEAST_REQUESTS = 5
"""Requests that a block holds on average: a median of fewer is a single request."""
LEAST_S = 60.0
"""A block is at least this long: the machine and the traffic drift within shorter ones (docs/methods.md, 11)."""


def visits(start_s: ArrayLike, phase: ArrayLike) -> NDArray[np.int64]:
    """The number of the visit that each request belongs to: a new one begins wherever the phase changes in time."""
    start, names = floats(start_s), np.asarray(phase).ravel()
    order = np.argsort(start, kind="stable")
    numbers = np.zeros(len(start), dtype=np.int64)
    if len(start):
        numbers[order] = np.concatenate(([0], np.cumsum(names[order][1:] != names[order][:-1])))
    return numbers


def blocks(start_s: ArrayLike, length_s: ArrayLike, visit: ArrayLike) -> NDArray[np.int64]:
    """The number of the block of each request, by the time it was sent; no block spans two visits of a phase.

    A visit is cut into equal parts of time: as many as leave five requests a block on average and no block shorter
    than a minute or the median request, because requests that are in service together wait together. A visit that is
    too short for two such blocks is one.
    """
    start, length, of_visit = floats(start_s), floats(length_s), np.asarray(visit).ravel()
    numbers = np.zeros(len(start), dtype=np.int64)
    following = 0
    for number in np.unique(of_visit):
        mine = of_visit == number
        count = _count(start[mine], length[mine])
        width = float(np.ptp(start[mine]))
        place = np.zeros(int(mine.sum()), dtype=np.int64)
        if width > 0:
            place = np.minimum(((start[mine] - start[mine].min()) / width * count).astype(np.int64), count - 1)
        numbers[mine] = following + place
        following += count
    return numbers


def _count(start: NDArray[np.float64], length: NDArray[np.float64]) -> int:
    span, known = float(np.ptp(start)), length[np.isfinite(length)]
    typical = float(np.median(known)) if len(known) else span
    return max(min(len(start) // LEAST_REQUESTS, int(span / max(typical, LEAST_S))), 1)
