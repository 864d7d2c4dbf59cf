"""Assumption: streams that share an engine step get their tokens together. Where all of them stood still, and how long.

From the clients' clocks alone. A *turn* is the time in which long prompts wait for their first token: one prompt, or
several whose waits overlap. A *stall* is a silence of all streams that is far longer than they take without a long
prompt. The prompt tokens of a turn are shared out over its stalls in proportion to their length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.estimates.inputs import Floats

Flags = NDArray[np.bool_]

COVERED = 0.9
"""Share of a turn in which some stream must be alive to witness it."""
LEAST_GAPS = 20
"""Gaps at one number of streams that it takes to say how long a gap is there."""
LONG = 2.0
"""A stall is a gap of at least so many usual ones, or longer than 95 % of the gaps without a long prompt."""


@dataclass(frozen=True, slots=True)
class Requests:
    """What clients wrote down, one entry a request: seconds on one clock, NaN where not known.

    `tokens` is the length of the prompt, `is_long` says whose turn is in question, `arrivals` are the arrivals of the
    tokens (or chunks of them) of each request, sorted.
    """

    sent_s: Floats
    first_s: Floats
    end_s: Floats
    tokens: Floats
    is_long: Flags
    arrivals: Sequence[Floats]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its time, the long prompts in it, its stalls, and why it cannot be used (None: it can).

    `worth` is the prompt tokens of each stall, in proportion; `longest_gap_s` is the longest silence, stall or not;
    `gaps` are the silences that touch it; `usual_s` is the usual gap then, `least_s` the least excess of a stall.
    """

    start_s: float
    end_s: float
    prompts: tuple[float, ...]
    stall_start_s: Floats
    stall_end_s: Floats
    excess_s: Floats
    longest_gap_s: float
    gaps: int
    usual_s: float
    least_s: float
    problem: str | None

    @property
    def worth(self) -> Floats:
        """Prompt tokens of each stall: all prompts of the turn, shared out by the excess of the stalls."""
        return np.asarray(self.excess_s * (sum(self.prompts) / self.excess_s.sum()) if len(self.excess_s) else [])

    @property
    def unseen(self) -> float:
        """Prompt tokens of the largest block that would not show as a stall; 0 without any stall."""
        return self.least_s * sum(self.prompts) / float(self.excess_s.sum()) if len(self.excess_s) else 0.0

    @property
    def share(self) -> float:
        """S: the longest stall over what the longest prompt would take in one piece, 1 at most.

        Of a lone prompt this is the longest stall over all stalls. Without a stall: longest silence over the turn.
        """
        if not len(self.excess_s):
            return min(1.0, self.longest_gap_s / max(self.end_s - self.start_s, 1e-9))
        return min(1.0, float(self.worth.max()) / max(self.prompts))


@dataclass(frozen=True, slots=True)
class Quiet:
    """The silences without a long prompt: their excess over the usual gap, where they lie, and the usual gap."""

    start_s: Floats
    end_s: Floats
    excess_s: Floats
    usual_s: float
    stall_at: float


def split_lengths(tokens: Floats) -> float | None:
    """The length that parts long prompts from short ones; None when no length does.

    Two groups of log lengths with the least scatter inside them; their centres must be a factor of 4 apart.
    """
    x = np.sort(np.log(tokens[tokens > 0]))
    if len(x) < 2 or x[0] == x[-1]:
        return None
    n, sums, squares = np.arange(1, len(x)), np.cumsum(x)[:-1], np.cumsum(x**2)[:-1]
    left, right = squares - sums**2 / n, (x**2).sum() - squares - (x.sum() - sums) ** 2 / (len(x) - n)
    at = int(np.argmin(left + right)) + 1
    return float(np.exp((x[at - 1] + x[at]) / 2)) if x[at:].mean() - x[:at].mean() >= np.log(4) else None


def turns(requests: Requests) -> tuple[list[Turn], Quiet | None]:
    """The turns in the order of time, and the silences outside them (None: too few to compare)."""
    windows = _windows(requests)
    streams = [a for a in requests.arrivals if len(a) > 1 and a[-1] > a[0]]
    usual = _usual(streams, windows) if streams else None
    if usual is None:
        return [_unusable(window, "no time without a long prompt to compare with") for window in windows], None
    start, end, count = _silences(streams)
    typical = np.interp(count, *usual[:2])
    outside = ~_touches(start, end, windows)
    quiet = Quiet(start[outside], end[outside], (end - start - typical)[outside], float(np.median(usual[1])), usual[2])
    return [_turn(requests, window, start, end, typical, usual[2]) for window in windows], quiet


@dataclass(frozen=True, slots=True)
class _Window:
    start: float
    end: float
    prompts: tuple[float, ...]  # NaN: a request that got no token, or does not say how long its prompt was


def _windows(requests: Requests) -> list[_Window]:
    """Waits of long prompts, and of requests of unknown length, which may be long; overlapping ones are one."""
    silent = np.isnan(requests.first_s)
    unknown = silent | np.isnan(requests.tokens)
    end = np.where(silent, requests.end_s, requests.first_s)
    found: list[_Window] = []
    for i in sorted(np.flatnonzero(requests.is_long | unknown), key=lambda i: (requests.sent_s[i], end[i])):
        tokens = (float("nan") if unknown[i] else float(requests.tokens[i]),)
        if found and requests.sent_s[i] <= found[-1].end:
            last = found.pop()
            found.append(_Window(last.start, max(last.end, float(end[i])), last.prompts + tokens))
        else:
            found.append(_Window(float(requests.sent_s[i]), float(end[i]), tokens))
    return found


def _touches(start: Floats, end: Floats, windows: list[_Window]) -> Flags:
    """Which of the spans touch a window; windows are disjoint and in order."""
    starts, ends = np.array([w.start for w in windows]), np.array([w.end for w in windows])
    return np.asarray(np.searchsorted(starts, end, side="left") > np.searchsorted(ends, start, side="right"))


def _usual(streams: list[Floats], windows: list[_Window]) -> tuple[Floats, Floats, float] | None:
    """Of gaps outside all turns: numbers of streams, the median gap at each, and the factor that makes a stall."""
    start, end = np.concatenate([a[:-1] for a in streams]), np.concatenate([a[1:] for a in streams])
    free = ~_touches(start, end, windows) & (end > start)
    gap, count = (end - start)[free], _alive(streams, (start + end)[free] / 2)
    numbers = [n for n in np.unique(count) if (count == n).sum() >= LEAST_GAPS]
    if not numbers:
        return None
    typical = np.array([np.median(gap[count == n]) for n in numbers])
    x = np.array(numbers, dtype=np.float64)
    return x, typical, max(LONG, float(np.quantile(gap / np.interp(count, x, typical), 0.95)))


def _alive(streams: list[Floats], at: Floats) -> NDArray[np.int64]:
    """How many streams are between their first and last token at each moment."""
    first, last = np.sort([a[0] for a in streams]), np.sort([a[-1] for a in streams])
    return np.asarray(np.searchsorted(first, at, side="right") - np.searchsorted(last, at, side="left"))


def _silences(streams: list[Floats]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Gaps between arrivals of any stream, while one stream was alive at both ends; and how many were."""
    at = np.unique(np.concatenate(streams))
    lives = np.zeros(len(at), dtype=np.int64)
    for stream in streams:
        lives[np.searchsorted(at, stream[0])] += 1
        lives[np.searchsorted(at, stream[-1])] -= 1
    alive = np.cumsum(lives)[:-1]
    kept = alive > 0
    return at[:-1][kept], at[1:][kept], alive[kept]


def _unusable(window: _Window, why: str) -> Turn:
    none = np.array([], dtype=np.float64)
    return Turn(window.start, window.end, window.prompts, none, none, none, 0.0, 0, 0.0, 0.0, why)


def _turn(
    requests: Requests, window: _Window, start: Floats, end: Floats, typical: Floats, stall_at: float
) -> Turn:  # fmt: skip
    if np.isnan(window.prompts).any():
        return _unusable(window, "a request of unknown length waited too")
    near = slice(np.searchsorted(end, window.start, "right"), np.searchsorted(start, window.end, "left"))
    start, end, typical = start[near], end[near], typical[near]  # silences are disjoint and in order
    seen = (np.minimum(end, window.end) - np.maximum(start, window.start)).sum()
    if not len(start) or seen < COVERED * (window.end - window.start):
        return _unusable(window, "no stream was alive to witness it")
    stalled = end - start > typical * stall_at
    usual = float(np.median(typical))
    excess = (end - start - typical)[stalled]
    kept = ~_of_short(requests, end[stalled], excess, sum(window.prompts), usual)
    return Turn(
        window.start, window.end, window.prompts, start[stalled][kept], end[stalled][kept], excess[kept],
        float((end - start).max()), len(start), usual, (stall_at - 1) * usual, None,
    )  # fmt: skip


def _of_short(requests: Requests, end: Floats, excess: Floats, tokens: float, usual: float) -> Flags:
    """Which stalls belong to short prompts: first tokens came at its end, and they are half of its worth."""
    worth = excess * (tokens / excess.sum()) if len(excess) else excess
    short = ~requests.is_long & ~np.isnan(requests.first_s) & ~np.isnan(requests.tokens)
    first, length = requests.first_s[short], requests.tokens[short]
    theirs = [length[(first >= at - usual / 2) & (first <= at + usual / 2)].sum() for at in end]
    return np.asarray([own >= w / 2 for own, w in zip(theirs, worth, strict=True)], dtype=bool)
