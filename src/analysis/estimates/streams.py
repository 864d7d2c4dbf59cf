"""Assumption: tokens of one chunk share its gap evenly. The gaps of one stream, as two numbers of that stream."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.estimates.inputs import Floats, floats


@dataclass(frozen=True, slots=True)
class StreamGaps:
    """`typical_s`: median over tokens of the time per token; `longest_s`: the longest gap between two arrivals.

    None where it cannot be known: fewer than two arrivals, arrivals out of order, or chunks of unknown size.
    """

    typical_s: float | None
    longest_s: float | None


UNKNOWN = StreamGaps(None, None)


def gaps_of_arrivals(at_s: Sequence[float], tokens_cum: Sequence[int | None] | None, tokens: int | None) -> StreamGaps:
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
    if tokens_cum is None or len(tokens_cum) != len(at) or any(count is None for count in tokens_cum):
        cumulated = np.arange(1, len(at) + 1) if tokens == len(at) else None
    else:
        cumulated = np.asarray(tokens_cum, dtype=np.int64)
    if cumulated is None:
        return StreamGaps(None, float(gaps.max()))
    each = np.diff(cumulated[last])
    return StreamGaps(_median(gaps, each), float(gaps.max()))


def gaps_as_recorded(gap_s: Sequence[float], tokens: int | None) -> StreamGaps:
    """From gaps that a tool wrote (s): typical only where there is one gap a token; the longest always."""
    gaps = floats(gap_s)
    if len(gaps) == 0 or not np.isfinite(gaps).all() or (gaps < 0).any():
        return UNKNOWN
    one_each = tokens is not None and len(gaps) == tokens - 1
    return StreamGaps(float(np.median(gaps)) if one_each else None, float(gaps.max()))


def _median(gaps: Floats, tokens: np.ndarray) -> float | None:
    """The median over tokens of gap / tokens of its chunk; a count that falls, or never rises, says nothing."""
    if (tokens < 0).any() or tokens.sum() <= 0:
        return None
    counted = tokens > 0
    return float(np.median(np.repeat(gaps[counted] / tokens[counted], np.minimum(tokens[counted], 100_000))))
