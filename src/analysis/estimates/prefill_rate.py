"""Assumption: blocks of time are independent. Tokens per second of prefill, from a series of scrapes."""

from dataclasses import replace

import numpy as np

from analysis.estimates.clusters import clustered_ratio
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import floats, problem
from analysis.estimates.ratio_scrapes import ASSUMPTION, BLOCKS, LEAST_BLOCKS, LEAST_WINDOWS, Windows, blocks_of

UNIT = "tokens/s"


def prefill_rate(windows: Windows, tokens: float, seconds: float) -> Estimate:
    """Tokens over prefill seconds of a run, with the wider of 5 and 10 batch means, on the logarithm.

    `tokens` and `seconds` are the totals of the run; `windows` hold both (part, whole) by scrape interval and may be
    empty, as with one page: then there is a value and no interval.
    """
    method = "ratio of sums"
    if problem("totals", np.array([tokens]), np.array([seconds]), positive=True) is not None:
        return no_interval(None, UNIT, method, "no prompt token was computed, or no prefill second counted")
    value, n = tokens / seconds, int((windows.requests > 0).sum())
    why = _problem(windows)
    if why is None and n < LEAST_WINDOWS:
        why = f"fewer than {LEAST_WINDOWS} windows with requests"
    if why is not None:
        return no_interval(value, UNIT, method, why, n=n, n_of="windows")
    found = []
    for blocks in BLOCKS:
        block = blocks_of(windows, blocks)
        if len(np.unique(block[windows.requests > 0])) >= LEAST_BLOCKS:
            found.append(clustered_ratio(windows.part, windows.whole, block, UNIT, "blocks", ASSUMPTION))
    found = [e for e in found if e.low is not None]
    if not found:
        return no_interval(value, UNIT, method, "fewer than 5 blocks", n=n, n_of="windows")
    widest = max(found, key=lambda e: (e.high or 0.0) - (e.low or 0.0))
    return replace(widest, method=f"wider of 5 and 10 batch means: {widest.method}")


def window_rates(windows: Windows) -> tuple[Estimate, Estimate]:
    """The median and the highest of the scrape intervals' own rates: counted, not estimated (census)."""
    why = _problem(windows)
    used = (windows.whole > 0) & (windows.part > 0) if why is None else np.zeros(0, bool)
    if not used.any():
        refused = no_interval(None, UNIT, "none", why or "no scrape interval has both tokens and prefill seconds")
        return refused, refused
    rates = windows.part[used] / windows.whole[used]
    return (
        _census(float(np.median(rates)), "median scrape interval", len(rates), ()),
        _census(float(rates.max()), "highest scrape interval", len(rates), ("chosen for being the highest",)),
    )


def _problem(windows: Windows) -> str | None:
    """Why the windows cannot be used, or None: a part may exceed its whole here, it is of another unit."""
    why = problem("windows", windows.start_s, windows.end_s, floats(windows.segment), signed=True)
    return why or problem("windows", windows.part, windows.whole, windows.requests, windows.end_s - windows.start_s)


def _census(value: float, method: str, n: int, notes: tuple[str, ...]) -> Estimate:
    reason = "census: these scrape intervals only"
    return Estimate(value, UNIT, "census", method, n=n, n_of="windows", reason=reason, warnings=notes)
