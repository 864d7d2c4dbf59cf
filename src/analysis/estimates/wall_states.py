"""Assumption: blocks of time are independent. In which state the clock's seconds are, from requests' own times."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats, floats, problem
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes

STATES = ("idle", "prefill_only", "decode_only", "both")
WINDOWS, REQUESTS_PER_WINDOW = 50, 2
"""Most windows that the clock is cut into, and the fewest requests for each on average."""


def states(sent_s: ArrayLike, first_s: ArrayLike, end_s: ArrayLike) -> tuple[Floats, Mapping[str, Floats]]:
    """Times at which anything changes, and for each state the seconds spent in it from the first of them to each.

    A request prefills from `sent_s` to `first_s` and decodes from there to `end_s`; the last two may be equal.
    """
    sent, first, end = floats(sent_s), floats(first_s), floats(end_s)
    times = np.unique(np.concatenate((sent, first, end)))
    middle = times[:-1]
    prefills = running(sent, first, middle) > 0
    decodes = running(first, end, middle) > 0
    held = (~prefills & ~decodes, prefills & ~decodes, ~prefills & decodes, prefills & decodes)
    seconds = np.diff(times)
    return times, {
        state: np.concatenate(([0.0], np.cumsum(seconds * now))) for state, now in zip(STATES, held, strict=True)
    }


def state_shares(sent_s: ArrayLike, first_s: ArrayLike, end_s: ArrayLike) -> dict[str, Estimate]:
    """The share of the time from the first request sent to the last one ended in each state, and in any `prefill`.

    Intervals are over 5 and 10 blocks of equal time. Times must be in order within each request.
    """
    sent, first, end = floats(sent_s), floats(first_s), floats(end_s)
    why = problem("requests", sent, first, end, signed=True)
    if why is None and not (len(sent) and end.max() > sent.min()):
        why = "no request took any time"
    if why is None and not ((sent <= first) & (first <= end)).all():
        why = "requests: times are out of order"
    if why is not None:
        return dict.fromkeys((*STATES, "prefill"), no_interval(None, "1", "none", why))
    times, spent = states(sent, first, end)
    spent = {**spent, "prefill": spent["prefill_only"] + spent["both"]}
    edges = np.linspace(times[0], times[-1], max(min(WINDOWS, len(sent) // REQUESTS_PER_WINDOW), 1) + 1)
    return {state: _share(edges, np.diff(np.interp(edges, times, seconds))) for state, seconds in spent.items()}


def clients_at_once(sent_s: ArrayLike, end_s: ArrayLike) -> Estimate:
    """Requests at once, as a mean over the time in which there was any: 1 when no two of them overlap, else more."""
    sent, end = floats(sent_s), floats(end_s)
    method = "request-seconds over seconds with a request, by clients' clocks"
    why = problem("requests", sent, end, signed=True)
    if why is None and (end < sent).any():
        why = "requests: times are out of order"
    if why is None and not (end > sent).any():
        why = "no request took any time"
    if why is not None:
        return no_interval(None, "1", method, why)
    times, spent = states(sent, sent, end)
    busy = float(times[-1] - times[0] - spent["idle"][-1])
    value = float((end - sent).sum()) / busy
    return Estimate(value, "1", "census", method, n=len(sent), n_of="requests", assumption="nobody else sent requests")


def _share(edges: Floats, inside: Floats) -> Estimate:
    whole = np.diff(edges)
    return share_from_scrapes(
        Windows.of(edges[:-1] - edges[0], edges[1:] - edges[0], np.clip(inside, 0, whole), whole, np.ones(len(whole)))
    )


def running(start: Floats, stop: Floats, at: Floats) -> Floats:
    """How many of the half-open spans [start, stop) hold each time."""
    started = np.searchsorted(np.sort(start), at, side="right")
    stopped = np.searchsorted(np.sort(stop), at, side="right")
    return floats(started - stopped)
