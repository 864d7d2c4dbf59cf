"""Assumption: blocks of time are independent. A share of sums from a series of scrapes, by batch means."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.estimates.clusters import clustered_share
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats, floats, logit_ends, problem

ASSUMPTION = "blocks of time are independent: the traffic mix drifts over less than a 30th of the span"
BLOCKS = (5, 10)
LEAST_WINDOWS, LEAST_BLOCKS = 10, 5
TRUSTED_SPANS = 30
"""A span of fewer correlation times covers too little (about 80 % at six of them)."""
_MINUTE_S = 60.0
_ONE_SIDED = 1.645


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Differences between neighbouring scrapes: seconds covered, sum of the part, sum of the whole, requests finished.

    `start_s` and `end_s` are window limits, `segment` numbers the life of the process (a reset starts a new one).
    Windows without requests stay in, as zeros.
    """

    start_s: Floats
    end_s: Floats
    part: Floats
    whole: Floats
    requests: Floats
    segment: NDArray[np.int64]

    @classmethod
    def of(
        cls, start_s: ArrayLike, end_s: ArrayLike, part: ArrayLike, whole: ArrayLike, requests: ArrayLike,
        segment: ArrayLike | None = None,
    ) -> "Windows":  # fmt: skip
        """From array-likes, sorted by life and time."""
        start, end, x, total, n = (floats(v) for v in (start_s, end_s, part, whole, requests))
        life = np.zeros(len(start), np.int64) if segment is None else np.unique(floats(segment), return_inverse=True)[1]
        if len({len(v) for v in (start, end, x, total, n, life)}) == 1:
            order = np.lexsort((start, life))
            start, end, x, total, n = (v[order] for v in (start, end, x, total, n))
            life = life[order]
        return cls(start, end, x, total, n, life)

    def problem(self) -> str | None:
        """Why the windows cannot be used, or None."""
        if (why := problem("windows", self.start_s, self.end_s, signed=True)) is not None:
            return why
        if (why := problem("windows", self.end_s - self.start_s, self.part, self.whole, self.requests)) is not None:
            return f"{why} (a counter fell inside a life, or times are out of order)"
        if len(self.segment) != len(self.start_s):
            return "windows: unequal lengths"
        if (self.part > self.whole * (1 + 1e-9)).any():
            return "a part is larger than its whole"
        return None if self.whole.sum() > 0 else "no requests in any window"

    def joined(self, most: int) -> "Windows":
        """At most about `most` windows: neighbours of one life put together, as many into each; for a chart."""
        together = -(-len(self.start_s) // most)
        if together <= 1:
            return self
        lives = np.flatnonzero(np.diff(self.segment, prepend=self.segment[0] - 1))
        in_life = np.arange(len(self.segment)) - np.repeat(lives, np.diff(np.append(lives, len(self.segment))))
        first = np.flatnonzero(in_life % together == 0)
        part, whole, requests = (np.add.reduceat(v, first) for v in (self.part, self.whole, self.requests))
        last = np.append(first[1:], len(self.segment)) - 1
        return Windows(self.start_s[first], self.end_s[last], part, whole, requests, self.segment[first])

    @property
    def span_s(self) -> float:
        """Seconds observed, gaps between lives left out."""
        return float((self.end_s - self.start_s).sum())


def share_from_scrapes(windows: Windows, independent: Estimate | None = None) -> Estimate:
    """The share sum(part) / sum(whole): the widest of independent requests, 5 and 10 batch means, on the log-odds.

    `independent` is the estimate of `ratio_page.share_of_sums` over the same span; without it the windows themselves
    are taken as independent. Refuses below 10 windows with requests and below 5 blocks with requests; warns where the
    span is shorter than 30 correlation times.
    """
    if (why := windows.problem()) is not None:
        return no_interval(None, "1", "none", why)
    share = float(windows.part.sum() / windows.whole.sum())
    method, n = "batch means", int((windows.requests > 0).sum())
    if n < LEAST_WINDOWS:
        return no_interval(share, "1", method, f"fewer than {LEAST_WINDOWS} windows with requests", n=n, n_of="windows")
    if share in (0.0, 1.0):
        return no_interval(share, "1", method, f"the share is exactly {share:g}", n=n, n_of="windows")
    choices = [c for blocks in BLOCKS if (c := _batch_means(windows, blocks)).low is not None]
    if not choices:
        return no_interval(share, "1", method, "fewer than 5 blocks", n=n, n_of="windows")
    if independent is not None and independent.low is not None:
        choices.append(_recentred(independent, share))
    else:
        each = clustered_share(windows.part, windows.whole, np.arange(len(windows.part)), "windows", ASSUMPTION)
        choices += [each] if each.low is not None else []
    widest = max(choices, key=lambda c: (c.high or 0.0) - (c.low or 0.0))
    return replace(
        widest, method=f"widest of independent, 5 and 10 batch means: {widest.method}", evidence=(), sensitivity={},
        warnings=_drift(windows, share),
        assumption=f"{ASSUMPTION} ({windows.span_s / TRUSTED_SPANS:.0f} s), or not at all"
        + (f"; {widest.assumption}" if widest.assumption and widest.assumption != ASSUMPTION else ""),
    )  # fmt: skip


def _recentred(independent: Estimate, share: float) -> Estimate:
    """Its width on the log-odds around this share: the sums of scrapes and of requests may differ a little."""
    low, high = special.logit(np.array([independent.low, independent.high], dtype=np.float64))
    ends = logit_ends(share, float(high - low) / 2, 1.0)
    return replace(independent, value=share, low=ends[0], high=ends[1])


def blocks_of(windows: Windows, blocks: int) -> NDArray[np.int64]:
    """Block number of each window: equal observed time inside a life; no block spans two lives.

    Blocks are shared out over lives by their length, at least one each, so there may be more than asked for.
    """
    seconds = windows.end_s - windows.start_s
    lives = int(windows.segment.max()) + 1
    length = np.bincount(windows.segment, seconds, minlength=lives)
    share = np.maximum(1, np.round(blocks * length / max(length.sum(), 1e-300))).astype(np.int64)
    share[np.argmax(length)] = max(1, share[np.argmax(length)] + max(blocks - int(share.sum()), 0))
    first = np.concatenate(([0], np.cumsum(share)[:-1]))
    before = np.concatenate(([0.0], np.cumsum(length)[:-1]))
    middle = np.cumsum(seconds) - seconds / 2 - before[windows.segment]
    inside = np.floor(middle / np.maximum(length[windows.segment], 1e-300) * share[windows.segment])
    return first[windows.segment] + np.minimum(inside.astype(np.int64), share[windows.segment] - 1)


def correlation_time_s(windows: Windows, share: float) -> float | None:
    """Correlation time of the traffic mix, from the autocorrelation of one-minute residuals; None: none seen.

    Seen means that the first tenth of the lags adds up to more than noise does (one-sided 5 %). The time is then that
    of the exponential a exp(-lag / tau) which fits the first quarter of the lags best; `a` takes up the noise of
    single requests, which would make an estimate from the first lag alone far too short.
    """
    residuals = _minute_residuals(windows, share)
    k = len(residuals)
    if k < LEAST_WINDOWS or residuals.std() == 0:
        return None
    centred = residuals - residuals.mean()
    lags = np.arange(1, max(k // 4, 4) + 1)
    seen = np.array([centred[lag:] @ centred[:-lag] for lag in lags]) / float(centred @ centred)
    first = max(k // 10, 2)
    if seen[:first].sum() <= _ONE_SIDED * sqrt(first / k):
        return None
    step, weights = max(_MINUTE_S, windows.span_s / len(windows.part)), 1 - lags / k
    times = np.geomspace(step, k * step, 60)
    shapes = np.exp(-lags * step / times[:, None])
    gained = np.maximum((shapes * weights) @ seen, 0) ** 2 / ((shapes**2) @ weights)
    return float(times[np.argmax(gained)])


def _minute_residuals(windows: Windows, share: float) -> Floats:
    step = max(_MINUTE_S, windows.span_s / len(windows.part))
    minute = np.floor((np.cumsum(windows.end_s - windows.start_s) - 1e-9) / step).astype(np.int64)
    return floats(np.bincount(np.maximum(minute, 0), windows.part - share * windows.whole))


def _drift(windows: Windows, share: float) -> tuple[str, ...]:
    if len(_minute_residuals(windows, share)) < LEAST_WINDOWS:
        return ("too short to test whether the traffic drifted: it takes ten minutes or more",)
    tau = correlation_time_s(windows, share)
    if tau is None or windows.span_s >= TRUSTED_SPANS * tau:
        return ()
    return (f"traffic drifted over about {tau:.0f} s; covers too little (about 80 % in tests at 6 times that)",)


def _batch_means(windows: Windows, blocks: int) -> Estimate:
    block = blocks_of(windows, blocks)
    if len(np.unique(block[windows.requests > 0])) < LEAST_BLOCKS:
        return no_interval(None, "1", "batch means", "fewer than 5 blocks")
    return clustered_share(windows.part, windows.whole, block, "blocks", ASSUMPTION)
