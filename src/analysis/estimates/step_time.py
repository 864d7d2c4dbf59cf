"""Assumption: a mixed step takes what its decode alone would take, and its prefill takes the rest."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats, floats, problem
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes

WINDOWS, STEPS_PER_WINDOW = 50, 5
"""Most windows that step time is cut into, and the fewest steps for each."""
ALONE = "prefill-only steps .. every step with context"


class StepShare(NamedTuple):
    """The share of step time that is prefill, and the range that no attribution of mixed steps can leave."""

    estimate: Estimate
    bound: Estimate


def prefill_seconds(elapsed_s: ArrayLike, context: ArrayLike, generation: ArrayLike) -> Floats | None:
    """Seconds of each step that are prefill; `context` and `generation` are its numbers of requests of each kind.

    Context only: all of it. Generation only: none. Mixed: what is above the median time of the steps that decode the
    same number of requests and nothing else; between counts that occurred, interpolated; beyond them, the nearest.
    None when there are mixed steps and no step that only decodes.
    """
    seconds, c, g = floats(elapsed_s), floats(context), floats(generation)
    mixed, alone = (c > 0) & (g > 0), (c == 0) & (g > 0)
    found = np.where((c > 0) & (g == 0), seconds, 0.0)
    if not mixed.any():
        return found
    if not alone.any():
        return None
    counts = np.unique(g[alone])
    medians = [float(np.median(seconds[alone & (g == n)])) for n in counts]
    found[mixed] = np.maximum(seconds[mixed] - np.interp(g[mixed], counts, medians), 0)
    return found


def step_share(
    elapsed_s: ArrayLike, context: ArrayLike, generation: ArrayLike, engine: ArrayLike | None = None
) -> StepShare:
    """The share of step time spent on prefill. Steps are in the order they ran; `engine` tells parallel engines apart.

    Time between steps is in no step, so idle time is not in the share; steps without any request are left out. Steps
    share their requests, so they are never the units: equal windows of step time are, in blocks.
    """
    columns = [floats(v) for v in (elapsed_s, context, generation)]
    columns.append(np.zeros(len(columns[0])) if engine is None else floats(engine))
    if (why := problem("steps", *columns)) is not None:
        return StepShare(*[no_interval(None, "1", "none", why)] * 2)
    used = (columns[1] > 0) | (columns[2] > 0)
    seconds, c, g, lane = (v[used] for v in columns)
    if not seconds.sum() > 0:
        return StepShare(*[no_interval(None, "1", "none", "no step did any work")] * 2)
    bound = _range(seconds, c, g)
    prefill = prefill_seconds(seconds, c, g)
    if prefill is None:
        reason = "no step only decodes, so mixed steps cannot be divided"
        return StepShare(no_interval(None, "1", "none", reason, n=len(seconds), n_of="steps"), bound)
    notes = () if used.all() else (f"{(~used).sum()} steps without any request left out",)
    return StepShare(share_from_scrapes(step_windows(seconds, prefill, lane)).with_warnings(*notes), bound)


def held_share(
    elapsed_s: ArrayLike, context: ArrayLike, generation: ArrayLike, engine: ArrayLike | None = None
) -> Estimate:
    """The share of request-seconds that some prefill holds, from a log of steps.

    A request in a step with its own prompt is in prefill for the whole of the step; a decoding one waits for what the
    step takes above its decode alone. To first order, requests would be spared this if no prompt took any time.
    """
    columns = [floats(v) for v in (elapsed_s, context, generation)]
    columns.append(np.zeros(len(columns[0])) if engine is None else floats(engine))
    why = problem("steps", *columns)
    prefill = prefill_seconds(*columns[:3]) if why is None else None
    if prefill is None:
        return no_interval(None, "1", "none", why or "no step only decodes, so mixed steps cannot be divided")
    seconds, c, g, lane = columns
    whole, part = seconds * (c + g), seconds * c + prefill * g
    if not whole.sum() > 0:
        return no_interval(None, "1", "none", "no step did any work")
    used = whole > 0
    return share_from_scrapes(step_windows(whole[used], part[used], lane[used]))


def _range(seconds: Floats, c: Floats, g: Floats) -> Estimate:
    """From steps that only prefill to every step with a prompt in it; without mixed steps these are one."""
    total, n = float(seconds.sum()), len(seconds)
    low, high = (float(seconds[held].sum()) / total for held in ((c > 0) & (g == 0), c > 0))
    if low == high:
        return Estimate(low, "1", "identity", ALONE, n=n, n_of="steps", assumption="no step was mixed")
    reason = "no point: mixed steps do both at once"
    return Estimate(None, "1", "bound", ALONE, low, high, None, n, "steps", reason=reason)


def step_windows(elapsed_s: Floats, prefill_s: Floats, engine: Floats) -> Windows:
    """At most 50 windows of equal step time, of at least five steps on average; engines run beside each other."""
    lanes = [engine == lane for lane in np.unique(engine)]
    windows = max(min(WINDOWS, len(elapsed_s) // len(lanes) // STEPS_PER_WINDOW), 1)
    part, whole = np.zeros(windows), np.zeros(windows)
    for lane in lanes:
        clock, prefill = (np.concatenate(([0.0], np.cumsum(v[lane]))) for v in (elapsed_s, prefill_s))
        edges = np.linspace(0, clock[-1], windows + 1)
        part += np.diff(np.interp(edges, clock, prefill))
        whole += np.diff(edges)
    ends = np.cumsum(whole) / len(lanes)
    # A window that is all prefill may exceed itself by rounding.
    return Windows.of(np.concatenate(([0.0], ends[:-1])), ends, np.minimum(part, whole), whole, np.ones(windows))
