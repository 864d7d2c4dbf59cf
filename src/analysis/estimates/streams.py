"""Assumption: tokens of one chunk share its gap evenly. The gaps of one stream, as two numbers of that stream."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.inputs import Floats, floats


@dataclass(frozen=True, slots=True)
class StreamGaps:
    """`typical_s`: median over tokens of the time per token; `longest_s`: the longest gap between two arrivals.

    None where it cannot be known: fewer than two arrivals, arrivals out of order, or chunks of unknown size.
    """

    typical_s: float | None
    longest_s: float | None


UNKNOWN = StreamGaps(None, None)


def gaps_of_arrivals(at_s: ArrayLike, tokens_cum: ArrayLike | None, tokens: int | None) -> StreamGaps:
    """From arrival times (s) and the count of tokens up to each; what arrives at one moment is one arrival.

    Without counts a chunk is one token only where there are as many chunks as `tokens`. A chunk of k tokens gives k
    times gap / k: a proxy that holds tokens back does not make them slow, but its gap stays the longest.
    """
    at = floats(at_s)
    steps = np.diff(at)
    if len(at) < 2 or not np.isfinite(at).all() or (steps < 0).any():
        return UNKNOWN
    last = np.append(steps > 0, True)  # of what arrives at one moment
    gaps = np.diff(at[last])
    if len(gaps) == 0:
        return UNKNOWN
    cumulated = floats([] if tokens_cum is None else tokens_cum)
    if len(cumulated) != len(at) or np.isnan(cumulated).any():
        if tokens != len(at):
            return StreamGaps(None, float(gaps.max()))
        cumulated = np.arange(1.0, len(at) + 1)
    return StreamGaps(_per_token(gaps, np.diff(cumulated[last])), float(gaps.max()))


def gaps_as_recorded(gap_s: ArrayLike, tokens: int | None) -> StreamGaps:
    """From gaps that a tool wrote (s): typical only where there is one gap a token; the longest always."""
    gaps = floats(gap_s)
    if len(gaps) == 0 or not np.isfinite(gaps).all() or (gaps < 0).any():
        return UNKNOWN
    one_each = tokens is not None and len(gaps) == tokens - 1
    return StreamGaps(float(np.median(gaps)) if one_each else None, float(gaps.max()))


def _per_token(gaps: Floats, tokens: Floats) -> float | None:
    """The median over tokens of gap / tokens of its chunk; a count that falls, or never rises, says nothing."""
    if (tokens < 0).any() or tokens.sum() <= 0:
        return None
    counted = tokens > 0
    each = np.minimum(tokens[counted], 100_000).astype(np.int64)
    return float(np.median(np.repeat(gaps[counted] / tokens[counted], each)))
