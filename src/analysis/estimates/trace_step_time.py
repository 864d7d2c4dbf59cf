"""Assumption: what a stream's gap has above the gap of decode alone, while some prompt waits, is prefill's."""

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats, floats, problem
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes
from analysis.estimates.wall_states import REQUESTS_PER_WINDOW, WINDOWS, running, states

METHOD = "wall time in prefill only, and of the time in both the part that gaps have above decode alone"
HELD = "own prefill, and the part that gaps beside a prefill have above decode alone"
LEAST_ALONE = 10
"""Gaps in decode alone that it takes to say how long such a gap is."""
TOO_FEW = f"it takes {LEAST_ALONE} gaps in decode alone, and one beside a prefill"


def step_share_from_traces(
    sent_s: ArrayLike, first_s: ArrayLike, end_s: ArrayLike, gap_start_s: ArrayLike, gap_end_s: ArrayLike
) -> Estimate:
    """The prefill share of step time as clients' clocks show it, where the engine logs no steps.

    `gap_start_s` and `gap_end_s` are the arrivals of neighbouring events of one stream. The excess of a gap is measured
    against the median gap at the same number of decoding streams with no prompt waiting (between counts interpolated).
    The ends are a range, not a confidence interval: none, and all, of the time in which both ran is prefill.
    """
    sent, first, end = floats(sent_s), floats(first_s), floats(end_s)
    start, stop = floats(gap_start_s), floats(gap_end_s)
    why = problem("requests", sent, first, end, signed=True) or problem("gaps", start, stop, signed=True)
    if why is None and not ((sent <= first) & (first <= end)).all():
        why = "requests: times are out of order"
    if why is not None:
        return no_interval(None, "1", METHOD, why)
    _, spent = states(sent, first, end)
    prefill, both = float(spent["prefill_only"][-1]), float(spent["both"][-1])
    busy = prefill + both + float(spent["decode_only"][-1])
    if busy <= 0:
        return no_interval(None, "1", METHOD, "no request took any time")
    gaps = _gaps(sent, first, end, start, stop)
    if gaps is None:
        return no_interval(None, "1", METHOD, TOO_FEW, n=len(sent), n_of="requests")
    beside, excess = gaps
    held = beside > 0
    part = float((beside[held] * excess[held]).sum() / beside[held].sum())
    return Estimate(
        (prefill + part * both) / busy, "1", "estimate", METHOD, prefill / busy, (prefill + both) / busy, None,
        len(sent), "requests", "the engine is busy whenever a request is out; the traces hold all requests",
        warnings=("the ends are a range, not a confidence interval: none, or all, of the time in both is prefill",),
    )  # fmt: skip


def held_share_from_traces(
    sent_s: ArrayLike, first_s: ArrayLike, end_s: ArrayLike, gap_start_s: ArrayLike, gap_end_s: ArrayLike
) -> Estimate:
    """The share of request-seconds that some prefill holds: own prefill, and what gaps have above decode alone.

    What requests would be spared if no prompt took any time, to first order: nobody waits for one.
    Inputs as above; equal windows of time in blocks are the units.
    """
    sent, first, end = floats(sent_s), floats(first_s), floats(end_s)
    start, stop = floats(gap_start_s), floats(gap_end_s)
    why = problem("requests", sent, first, end, signed=True) or problem("gaps", start, stop, signed=True)
    if why is None and not ((sent <= first) & (first <= end)).all():
        why = "requests: times are out of order"
    gaps = None if why is not None else _gaps(sent, first, end, start, stop)
    if gaps is None:
        return no_interval(None, "1", HELD, why or TOO_FEW, n=len(sent), n_of="requests")
    _, excess = gaps
    gap, prefill = stop - start, first - sent
    count = max(min(WINDOWS, len(sent) // REQUESTS_PER_WINDOW), 1)
    edges = np.linspace(sent.min(), end.max(), count + 1)
    at = [np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, count - 1)
          for middle in ((sent + first) / 2, (start + stop) / 2)]  # fmt: skip
    own = np.bincount(at[0], prefill, count)
    part, whole = own + np.bincount(at[1], gap * excess, count), own + np.bincount(at[1], gap, count)
    return share_from_scrapes(
        Windows.of(edges[:-1] - edges[0], edges[1:] - edges[0], np.minimum(part, whole), whole, whole > 0)
    )


def _gaps(sent: Floats, first: Floats, end: Floats, start: Floats, stop: Floats) -> tuple[Floats, Floats] | None:
    """Of each gap: its seconds beside a waiting prompt, and the share of it that is above decode alone; or None."""
    times, spent = states(sent, first, end)
    beside = np.interp(stop, times, spent["both"]) - np.interp(start, times, spent["both"])
    gap, streams = stop - start, running(first, end, (start + stop) / 2)
    alone = (beside <= 0) & (gap > 0) & (streams > 0)
    if alone.sum() < LEAST_ALONE or not beside.max(initial=0) > 0:
        return None
    counts = np.unique(streams[alone])
    usual = np.interp(streams, counts, [float(np.median(gap[alone & (streams == n)])) for n in counts])
    held = (beside > 0) & (gap > 0)
    return beside, np.where(held, np.maximum(1 - usual / np.where(held, gap, 1.0), 0), 0.0)
