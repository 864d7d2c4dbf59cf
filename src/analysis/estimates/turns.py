"""Assumption: turns are independent, and a step takes time in proportion to its prompt tokens. Whose turn it is.

A verdict on the size of the blocks in which long prompts run, from the turns of `stalls.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.inputs import CONFIDENCE, Floats, floats
from analysis.estimates.quantile_values import quantile
from analysis.estimates.stalls import Quiet, Turn
from analysis.estimates.theil_sen import theil_sen

WHOLE = 0.75
"""S at or above it: the longest prompt ran in one block, or in one and a remainder below a third of it."""
LEAST_TURNS = 6
"""Fewest turns that a sign test can decide on."""
LEAST_SPLIT = 3
"""Fewest turns with several stalls each that can decide, when such stalls are never seen without a long prompt."""
CHANCE, BACKGROUND_CHANCE = 0.05, 0.01


@dataclass(frozen=True, slots=True)
class Verdict:
    """`verdict` is one_block, interleaved, cannot_tell or no_stall; `why` says why it cannot be told.

    `tested` are the turns that decided it: of those that can be used, the longer half, six at least. `chance` is the
    p-value of the test. `block` is turn.block_tokens and `share` is turn.stall_share.
    """

    verdict: str
    why: str
    usable: list[Turn]
    tested: list[Turn]
    chance: float | None
    share: Estimate
    block: Estimate


def judge(turns: Sequence[Turn], quiet: Sequence[Quiet]) -> Verdict:
    """The verdict on the turns of one engine; `quiet` holds the silences of each of its clocks."""
    usable = sorted((t for t in turns if t.problem is None), key=lambda t: (-max(t.prompts), t.start_s))
    tested = usable[: max(LEAST_TURNS, (len(usable) + 1) // 2)]
    verdict, why, chance = _decide(tested, quiet)
    share = stall_share([t.share for t in tested])
    return Verdict(verdict, why, usable, tested, chance, share, _block(verdict, why, usable, tested))


def _decide(tested: list[Turn], quiet: Sequence[Quiet]) -> tuple[str, str, float | None]:
    n = len(tested)
    if n < LEAST_SPLIT:
        return "cannot_tell", f"{n} long prompts were sent that can be used, and it takes {LEAST_TURNS}", None
    split = [t for t in tested if t.share < WHOLE]
    silent = sum(not len(t.excess_s) for t in tested)
    sign = float(stats.binomtest(len(split), n).pvalue)
    if n < LEAST_TURNS:
        chance = background_chance(tested, quiet)
        if 2 * silent < n and chance <= BACKGROUND_CHANCE:
            return "interleaved", "", chance
        return "cannot_tell", f"{n} long prompts were sent that can be used, and it takes {LEAST_TURNS}", chance
    if 2 * silent > n:
        return "no_stall", "", None
    if _as_much_without(tested, quiet):
        return "cannot_tell", "streams stall as long when no long prompt waits", sign
    if sign > CHANCE:
        return "cannot_tell", "some prompts ran in one block and others did not: they are about one block long", sign
    return "interleaved" if 2 * len(split) > n else "one_block", "", sign


def background_chance(tested: Sequence[Turn], quiet: Sequence[Quiet]) -> float:
    """The chance that so many turns were split by stalls that have nothing to do with long prompts.

    A turn reads as split when other stalls add up to a third of its longest. Under the hypothesis that they are
    background, a silence of that length is as likely in a turn as outside: at most (c + 1) / (N + 1) each, with c of N
    seen outside. Over the silences of a turn, and over the turns by the binomial tail at the worst of these rates.
    """
    split = [t for t in tested if t.share < WHOLE]
    excess = np.concatenate([q.excess_s for q in quiet]) if quiet else np.array([])
    if not split or not len(excess):
        return 1.0
    rates = [
        t.gaps * (1 + int((excess >= t.excess_s.max(initial=0) * (1 - WHOLE) / WHOLE).sum())) / (1 + len(excess))
        for t in split
    ]
    return float(stats.binom.sf(len(split) - 1, len(tested), min(1.0, max(rates))))


def _as_much_without(tested: Sequence[Turn], quiet: Sequence[Quiet]) -> bool:
    """Whether most placebo windows hold a stall of half the usual length of a turn's longest."""
    found = placebo(tested, quiet)
    return found is not None and found[0] * 2 > found[1]


def placebo(tested: Sequence[Turn], quiet: Sequence[Quiet]) -> tuple[int, int] | None:
    """How many of the windows as long as a turn, but without a long prompt, stall half as long; and all of them."""
    if not tested or not quiet:
        return None
    width = float(np.median([t.end_s - t.start_s for t in tested]))
    least = float(np.median([t.excess_s.max(initial=0) for t in tested])) / 2
    hits = total = 0
    for q in quiet:
        # Laid end to end and cut into windows of that width; a silence belongs to the one that it begins in.
        end = np.cumsum(q.end_s - q.start_s)
        window = ((end - (q.end_s - q.start_s)) / max(width, 1e-9)).astype(np.int64)
        whole = int(end.max(initial=0) / max(width, 1e-9) + 1e-6)
        hit = np.unique(window[(q.excess_s >= least) & (window < whole)]) if least > 0 else ()
        hits, total = hits + len(hit), total + whole
    return (hits, total) if total else None


def stall_share(shares: ArrayLike) -> Estimate:
    """turn.stall_share: the median S of turns, between order statistics."""
    found = floats(shares)
    if not len(found):
        return not_computable("1", "no turn of a long prompt that a stream witnessed")
    if len(found) > 1 and np.ptp(found) == 0:
        reason = f"it is the same in all {len(found)} turns"
        return no_interval(float(found[0]), "1", "median of turns", reason, n=len(found), n_of="turns")
    return quantile(found, 0.5, "1", n_of="turns")


def blocks_by_counting(turns: Sequence[Turn]) -> tuple[float, float] | None:
    """The block sizes that the numbers of stalls allow: m prompts of L tokens in k stalls have L/k <= B < L/(k - m).

    A last block of each prompt may be too small to show, so L is taken without these at the lower end. One turn in ten
    may miscount at either end. None without a turn that has more stalls than prompts, and when the
    counts contradict each other: then the blocks are not all of one size.
    """
    counted = [(sum(t.prompts), len(t.excess_s), len(t.prompts), t.unseen) for t in turns]
    least = [(tokens - m * unseen) / k for tokens, k, m, unseen in counted]
    most = [tokens / (k - m) for tokens, k, m, _ in counted if k > m]
    if not most:
        return None
    low, high = float(np.quantile(least, 0.9)), float(np.quantile(most, 0.1))
    return (low, high) if low < high else None


def full_block(turn: Turn) -> float:
    """Prompt tokens of a turn's full blocks, in proportion to their time: the median of its stalls near the longest."""
    worth = turn.worth
    return float(np.median(worth[worth >= WHOLE * worth.max()]))


def _block(verdict: str, why: str, usable: list[Turn], tested: list[Turn]) -> Estimate:
    n = len(tested)
    if verdict == "one_block":
        longest = max(max(t.prompts) for t in tested if t.share >= WHOLE)
        return Estimate(
            longest, "tokens", "bound", "longest prompt whose turn was one stall", longest, float("inf"),
            n=n, n_of="turns", assumption="no engine step is longer than its block",
        )  # fmt: skip
    if verdict == "interleaved":
        return _blocks([t for t in usable if t.share < WHOLE and len(t.excess_s)])
    return no_interval(None, "tokens", "none", why or "no stall that a block could be read from", n=n, n_of="turns")


def _blocks(split: list[Turn]) -> Estimate:
    ends, value = blocks_by_counting(split), float(np.median([full_block(t) for t in split]))
    if ends and WHOLE * ends[0] <= value <= ends[1] / WHOLE:
        unseen = float(np.median([t.unseen for t in split]))
        uneven = [f"uneven arrivals: blocks below {unseen:.0f} tokens do not show"] if 2 * unseen > ends[0] else []
        return Estimate(
            min(max(value, ends[0]), ends[1]), "tokens", "estimate", "prompt tokens over the number of stalls", *ends,
            n=len(split), n_of="turns", assumption="every block of a prompt shows as one stall, in nine of ten turns",
            warnings=("the ends are a range from counting stalls, not a confidence interval", *uneven),
        )  # fmt: skip
    largest = [float(t.worth.max()) for t in split]
    return Estimate(
        float(np.median(largest)), "tokens", "estimate", "prompt tokens of the longest stall, by its time",
        min(largest), max(largest), n=len(split), n_of="turns",
        assumption="a block takes time in proportion to its tokens",
        warnings=("the ends are the least and the most of the turns, not a confidence interval",
                  "the numbers of stalls do not fit one block size: some blocks are smaller"),
    )  # fmt: skip


def dose(turns: Sequence[Turn]) -> Estimate:
    """The slope of the longest stall on the time of the turn, over lone prompts: 1 if exclusive, 0 if interleaved.

    Theil and Sen's, a cross-check: waiting in a queue before the turn pulls it down.
    """
    lone = [t for t in turns if len(t.prompts) == 1]
    width = np.array([t.end_s - t.start_s for t in lone])
    if len(lone) < LEAST_TURNS or np.ptp(width) <= 0:
        return no_interval(None, "1", "Theil-Sen slope", f"it takes {LEAST_TURNS} lone prompts", n=len(lone))
    slope, ends = theil_sen(width, np.array([t.longest_gap_s for t in lone]))
    if ends is None:
        return no_interval(slope, "1", "Theil-Sen slope", "too many turns are equally long", n=len(lone))
    return Estimate(
        slope, "1", "estimate", "Theil-Sen slope", *ends, CONFIDENCE, len(lone), "turns",
        "no queueing inside a turn",
    )  # fmt: skip


def overtaking(turns: Sequence[Turn], sent_s: Floats, first_s: Floats) -> Estimate:
    """Of short prompts sent while a turn already stalled: the share with a first token before the long prompt's.

    Sent after the first stall began and before the last quarter of the rest of the turn; first token 1.5 usual gaps
    before the turn's end. Clopper and Pearson's interval; `sent_s` and `first_s` are those of the short prompts.
    """
    ahead = asked = 0
    for turn in turns:
        if len(turn.excess_s):
            began = float(turn.stall_start_s[0])
            until = turn.end_s - (turn.end_s - began) / 4
            during = (sent_s > began) & (sent_s < until)
            asked += int(during.sum())
            ahead += int((first_s[during] < turn.end_s - 1.5 * turn.usual_s).sum())
    if not asked:
        return not_computable("1", "no short prompt was sent while a long one had its turn")
    ends = stats.binomtest(ahead, asked).proportion_ci(CONFIDENCE, "exact")
    return Estimate(
        ahead / asked, "1", "estimate", "exact (Clopper-Pearson)", float(ends.low), float(ends.high), CONFIDENCE,
        asked, "short prompts", "short prompts are independent",
    )  # fmt: skip
