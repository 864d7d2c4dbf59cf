"""Assumption: without a drift the blocks of a run are exchangeable. Whether a rate fell or rose, and from when."""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, floats, problem

LEAST_BLOCKS = 6
PERMUTATIONS = 1999
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Drift:
    """`change`: rate at the end over rate at the beginning (x), by a straight line through the logarithms of blocks.

    `p` is that of a step anywhere (permutations of the blocks, so looking everywhere is paid for); `began` is the
    number of the block with which the best step begins. Both None where the test could not be made.
    """

    change: Estimate
    p: float | None = None
    began: int | None = None


def drift(rate: ArrayLike, at_s: ArrayLike, seed: int = 0) -> Drift:
    """The drift of block rates (one a block, positive) over their times; at least six blocks."""
    found, at = floats(rate), floats(at_s)
    method = "line through the logarithms of block medians, t"
    why = problem("blocks", found, positive=True) or problem("blocks", at, signed=True)
    if why is None and len(found) != len(at):
        why = "blocks: unequal lengths"
    if why is None and len(found) < LEAST_BLOCKS:
        why = f"fewer than {LEAST_BLOCKS} blocks"
    if why is None and np.ptp(at) == 0:
        why = "the blocks have one time"
    if why is not None:
        return Drift(no_interval(None, "x", method, why, n=len(found), n_of="blocks"))
    order = np.argsort(at, kind="stable")
    logs, at = np.log(found[order]), at[order]
    if np.ptp(logs) <= 1e-12 * max(1.0, float(np.abs(logs).max())):
        return Drift(
            no_interval(1.0, "x", method, "the blocks are all alike: no spread seen", n=len(at), n_of="blocks")
        )
    p, began = _step(logs, np.random.default_rng(seed))
    return Drift(_line(logs, at, method), p, began)


def holm(p: list[float]) -> list[float]:
    """Holm's adjusted p values of a family, in its order."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate([(len(p) - i) * p[k] for i, k in enumerate(order)])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(x) for x in adjusted]


def _line(logs: Floats, at: Floats, method: str) -> Estimate:
    fit = stats.linregress(at, logs)
    span = float(np.ptp(at))
    centre, reach = float(fit.slope) * span, t_quantile(len(at) - 2) * float(fit.stderr) * span
    ends = [exp(min(max(x, -log(1e100)), log(1e100))) for x in (centre, centre - reach, centre + reach)]
    return Estimate(
        ends[0], "x", "estimate", method, ends[1], ends[2], CONFIDENCE, len(at), "blocks",
        "blocks scatter independently around a straight line",
    )  # fmt: skip


def _step(logs: Floats, rng: np.random.Generator) -> tuple[float, int]:
    """The p value and place of the largest step between two parts of the sequence, by its t-like size."""
    n = len(logs)
    shuffled = np.array([rng.permutation(logs) for _ in range(PERMUTATIONS)])
    sizes = _sizes(np.vstack((logs, shuffled)))
    best = sizes.max(axis=1)
    p = float((np.sum(best[1:] >= best[0] * (1 - 1e-9)) + 1) / (PERMUTATIONS + 1))
    return p, int(np.argmax(sizes[0])) + 1 if n else 0


def _sizes(rows: Floats) -> Floats:
    """|mean before - mean after| times sqrt(k (n - k) / n), for each place k of the step, a row a sequence."""
    n = rows.shape[1]
    before = np.cumsum(rows, axis=1)[:, :-1]
    k = np.arange(1, n)
    total = rows.sum(axis=1, keepdims=True)
    return np.abs(before / k - (total - before) / (n - k)) * np.sqrt(k * (n - k) / n)
