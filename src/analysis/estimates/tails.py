"""Assumption: blocks are exchangeable within their arm. Quantiles of blocked designs (load on, load off)."""

from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, floats, problem

LEAST_BLOCKS_T, LEAST_BLOCKS_MEDIAN, LEAST_BLOCKS_TAIL = 6, 20, 40
"""Blocks of both arms together: for paired t of the median, for the block bootstrap of the median, and of a tail."""
RESAMPLES = 1000
_CELLS = 4_000_000
"""Most cells of the resampling table held at once."""
_MANY = 200
_STRETCHES = 200
"""Into how many the sorted values are cut, to look through one of them only."""


def quantile_difference(
    on: ArrayLike, on_block: ArrayLike, off: ArrayLike, off_block: ArrayLike, q: float, unit: str, seed: int = 0
) -> Estimate:
    """The q quantile with load less that without, blocks of time as units; never requests, never tokens.

    Block bootstrap from 20 blocks (both arms together) for the median and from 40 for a tail; the median of 6 to 19
    blocks that alternate takes a paired t on block medians. Below that: the value and `tail of few blocks`.
    """
    x, y = floats(on), floats(off)
    bx, by = _labels(on_block), _labels(off_block)
    why = problem("requests", x, signed=True) or problem("requests", y, signed=True)
    if why is None and (len(bx) != len(x) or len(by) != len(y)):
        why = "requests: unequal lengths"
    if why is None and not 0 < q < 1:
        why = "the quantile is not between 0 and 1"
    if why is not None:
        return no_interval(None, unit, "block bootstrap", why, n_of="blocks")
    value = _quantile(x, q) - _quantile(y, q)
    blocks, tail = len(np.unique(bx)) + len(np.unique(by)), q > 0.5 or q < 0.5
    if min(len(np.unique(bx)), len(np.unique(by))) < 3 or blocks < (LEAST_BLOCKS_TAIL if tail else LEAST_BLOCKS_T):
        reason = "tail of few blocks" if tail else f"fewer than {LEAST_BLOCKS_T} blocks"
        return no_interval(value, unit, "block bootstrap", reason, n=blocks, n_of="blocks")
    if not tail and blocks < LEAST_BLOCKS_MEDIAN:
        return _paired_blocks(x, bx, y, by, value, unit)
    rng = np.random.default_rng(seed)
    draws = _resampled(x, bx, q, rng) - _resampled(y, by, q, rng)
    return _from_draws(value, draws, blocks, unit)


def quantile_of_blocked(values: ArrayLike, block: ArrayLike, q: float, unit: str, seed: int = 0) -> Estimate:
    """The q quantile of one arm by block bootstrap: from 10 blocks for the median, from 20 for a tail."""
    x, labels = floats(values), _labels(block)
    why = problem("requests", x, signed=True) or (None if len(labels) == len(x) else "requests: unequal lengths")
    if why is not None:
        return no_interval(None, unit, "block bootstrap", why, n_of="blocks")
    blocks, least = len(np.unique(labels)), (LEAST_BLOCKS_MEDIAN if q == 0.5 else LEAST_BLOCKS_TAIL) // 2
    if blocks < least:
        reason = "tail of few blocks" if q != 0.5 else f"fewer than {least} blocks"
        return no_interval(_quantile(x, q), unit, "block bootstrap", reason, n=blocks, n_of="blocks")
    return _from_draws(_quantile(x, q), _resampled(x, labels, q, np.random.default_rng(seed)), blocks, unit)


def _labels(block: ArrayLike) -> NDArray[np.int64]:
    return np.unique(np.asarray(block).ravel(), return_inverse=True)[1]


def _quantile(x: Floats, q: float) -> float:
    return float(np.quantile(x, q, method="inverted_cdf"))


def _paired_blocks(
    x: Floats, bx: NDArray[np.int64], y: Floats, by: NDArray[np.int64], value: float, unit: str
) -> Estimate:
    """Student's t on the differences of block medians, the k-th block with load against the k-th without."""
    method = "paired t on block medians"
    medians = [np.array([np.median(v[b == k]) for k in np.unique(b)]) for v, b in ((x, bx), (y, by))]
    n = min(len(m) for m in medians)
    each = medians[0][:n] - medians[1][:n]
    if each.std() == 0:
        return no_interval(value, unit, method, "the blocks are all alike: no spread seen", n=n, n_of="pairs of blocks")
    centre, reach = float(each.mean()), t_quantile(n - 1) * float(each.std(ddof=1)) / sqrt(n)
    return Estimate(
        centre, unit, "estimate", method, centre - reach, centre + reach, CONFIDENCE, n, "pairs of blocks",
        "blocks alternate and are independent; the figure is a mean of block medians",
    )  # fmt: skip


def _resampled(x: Floats, block: NDArray[np.int64], q: float, rng: np.random.Generator) -> Floats:
    """The q quantile of each resample: whole blocks drawn with replacement, as weights on the sorted values.

    The stretch of values that holds the quantile is found first, from what each block has below each stretch's end.
    """
    order = np.argsort(x, kind="stable")
    values, labels, k = x[order], block[order], int(block.max()) + 1
    size = ceil(len(x) / _STRETCHES)
    below = np.zeros((k, len(x) // size + 1))
    np.add.at(below, (labels, np.arange(len(x)) // size), 1)
    below = np.cumsum(below, axis=1)
    labels = np.append(labels, np.full(size, k))  # beyond the last value: of no weight
    draws = np.empty(RESAMPLES)
    chunk = max(1, _CELLS // max(size, k))
    for at in range(0, RESAMPLES, chunk):
        weights = _weights(k, min(chunk, RESAMPLES - at), rng)
        reached = weights @ below
        wanted = q * reached[:, -1:]
        stretch = (reached < wanted).sum(axis=1)
        before = np.where(stretch > 0, reached[np.arange(len(weights)), stretch - 1], 0)
        places = stretch[:, None] * size + np.arange(size)
        padded = np.append(weights, np.zeros((len(weights), 1)), axis=1)
        within = before[:, None] + np.cumsum(np.take_along_axis(padded, labels[places], axis=1), axis=1)
        draws[at : at + len(weights)] = values[stretch * size + (within < wanted).sum(axis=1)]
    return draws


def _weights(k: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each of k blocks comes in each draw of k; of many blocks it is quicker to draw them one by one."""
    if k < _MANY:
        return rng.multinomial(k, np.full(k, 1 / k), size=draws)
    places = rng.integers(k, size=(draws, k)) + k * np.arange(draws)[:, None]
    return np.bincount(places.ravel(), minlength=draws * k).reshape(draws, k)


def _from_draws(value: float, draws: Floats, blocks: int, unit: str) -> Estimate:
    low, high = (float(end) for end in np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
    if low == high:
        return no_interval(
            value, unit, "block bootstrap", "the blocks are all alike: no spread seen", n=blocks, n_of="blocks"
        )
    return Estimate(
        value, unit, "estimate", "block bootstrap, percentile", low, high, CONFIDENCE, blocks, "blocks",
        "blocks are exchangeable within their arm",
    )  # fmt: skip
