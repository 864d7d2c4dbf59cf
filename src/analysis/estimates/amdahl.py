"""Assumption: requests do not wait for each other. The most a lever on one phase can gain, and when it is no bound."""

from dataclasses import replace
from math import inf, isfinite

from analysis.estimates.estimate import Estimate, no_interval

SEQUENTIAL = 1.05
"""Mean concurrency up to which request-seconds do not overlap, and the cap is a bound."""
FIRST_ORDER = 2.4
"""The first-order range was within 8 % of the truth up to this concurrency in simulation, too low above 10."""

LOWER_END = "1 / (1 - R + R / f) with the low end of R, and what others wait on top"
SAME_SET = 0.02
"""Sums over two sets of requests are compared only where their counts differ by less than this."""


def cap(share: float, factor: float = inf) -> float:
    """Amdahl's ratio 1 / (1 - R + R / f) for a phase of share R made f times faster."""
    return 1 / (1 - share + (0.0 if factor == inf else share / factor)) if share < 1 or factor < inf else inf


def lever_ceiling(
    share: Estimate, concurrency: float | None, wall_share: float | None = None, factor: float = inf
) -> Estimate:
    """The most that inference time can shrink when the phase with this share of request-seconds is made faster.

    At a mean concurrency up to 1.05 the cap 1/(1 - R + R/f) is a bound. Above it a request that waits for somebody
    else's phase books the wait elsewhere: not a bound. With `wall_share` p (the share of wall-clock time in which the
    phase itself runs, not what clients see of it) the first-order range is s (R + p(1 - R)) .. s (R + p), s = 1 - 1/f.
    That takes decodes to be spread evenly; `first_order` needs no such thing.
    """
    method = "1 / (1 - R + R / f)"
    if share.value is None or not 0 <= share.value < 1:
        return no_interval(None, "x", method, share.reason or "the share is not below 1")
    if concurrency is not None and concurrency <= SEQUENTIAL:
        low, high = (None if end is None else cap(end, factor) for end in (share.low, share.high))
        return replace(
            share, value=cap(share.value, factor), low=low, high=high, unit="x", kind="bound", method=method, id="",
            sensitivity={}, assumption="requests do not overlap",
        )  # fmt: skip
    known = "concurrency unknown" if concurrency is None else f"mean concurrency {concurrency:.2f}"
    if wall_share is None or not 0 <= wall_share <= 1:
        reason = f"not a bound: requests overlap ({known})"
        return no_interval(cap(share.value, factor), "x", method, reason, n=share.n, n_of=share.n_of)
    return _first_order(share, concurrency, wall_share, known, 1 - 1 / factor)


def _first_order(share: Estimate, concurrency: float | None, p: float, known: str, saved: float) -> Estimate:
    low = share.low if share.low is not None else share.value
    high = share.high if share.high is not None else share.value
    assert low is not None
    assert high is not None
    least, most = saved * (low + p * (1 - low)), saved * (high + p)
    notes = ("too low above ten requests at once",) if concurrency is None or concurrency > FIRST_ORDER else ()
    return Estimate(
        None, "x", "estimate", "first order: s (R + p(1 - R)) .. s (R + p), s = 1 - 1/f", cap(min(least, 1)),
        cap(most) if most < 1 else inf, None, share.n, share.n_of,
        "each second of the phase delays the requests in flight; queue time saved comes on top",
        reason=f"not a bound: requests overlap ({known})", warnings=notes,
    )  # fmt: skip


def first_order(held: Estimate, concurrency: float | None, factor: float = inf) -> Estimate:
    """What a faster phase would spare where requests overlap, from the share of request-seconds that it holds.

    `held` counts each request's own seconds of the phase and those it waits for somebody else's. Not a bound: queue
    time comes on top, and with the phase gone other requests are in flight at other times.
    """
    method = "first order: 1 / (1 - S + S / f), S the share of request-seconds that the phase holds"
    if held.value is None or not 0 <= held.value < 1:
        return no_interval(None, "x", method, held.reason or "the share is not below 1")
    known = "concurrency unknown" if concurrency is None else f"mean concurrency {concurrency:.2f}"
    low, high = (None if end is None else cap(end, factor) for end in (held.low, held.high))
    return replace(
        held, value=cap(held.value, factor), low=low, high=high, unit="x", kind="estimate", method=method, id="",
        sensitivity={}, reason=f"not a bound: requests overlap ({known}); first order",
    )  # fmt: skip


def at_least(share: Estimate, concurrency: float | None, factor: float = inf) -> Estimate:
    """The lower end of what a faster phase gives where requests overlap and nobody knows what it holds up.

    Each request is spared its own seconds of the phase; what it waits for somebody else's is booked elsewhere and comes
    on top, so there is no value and no upper end.
    """
    known = "concurrency unknown" if concurrency is None else f"mean concurrency {concurrency:.2f}"
    reason = f"not a bound: requests overlap ({known}), and what they wait for each other's is not known"
    if share.low is None or not 0 <= share.low < 1:
        return no_interval(None, "x", LOWER_END, share.reason if share.value is None else reason)  # type: ignore[arg-type]
    return Estimate(
        None, "x", "estimate", LOWER_END, cap(share.low, factor), inf, share.confidence, share.n, share.n_of,
        share.assumption, reason=reason, warnings=share.warnings,
    )  # fmt: skip


def fewer_tokens(prefill_share: Estimate, factor: float, concurrency: float | None) -> Estimate:
    """How much shorter requests get with 1/`factor` of their output tokens: 1 / (1 - D + D / f), D the decode share.

    Each token that is left takes as long as before. Never a bound: the last tokens of an answer have the longest
    contexts, and where requests overlap others no longer wait for the steps that are saved.
    """
    method = "1 / (1 - D + D / f), D = 1 - R"
    if prefill_share.value is None or not (0 <= prefill_share.value <= 1 and isfinite(factor) and factor >= 1):
        return no_interval(None, "x", method, prefill_share.reason or "it takes a share, and answers that get shorter")
    overlap = (
        "" if concurrency is not None and concurrency <= SEQUENTIAL else ", and others gain too where they overlap"
    )
    low, high = (None if r is None else cap(1 - r, factor) for r in (prefill_share.high, prefill_share.low))
    return replace(
        prefill_share, value=cap(1 - prefill_share.value, factor), low=low, high=high, unit="x", kind="estimate",
        method=method, id="", sensitivity={}, assumption="each output token takes as long as another",
        reason=f"not a bound: the last tokens of an answer are the slowest{overlap}",
    )  # fmt: skip


def mean_concurrency(inference_s: float, busy_s: float | None, wall_s: float) -> Estimate:
    """Requests in service at once: inference seconds over busy seconds; over wall seconds a lower limit."""
    clock = busy_s if busy_s is not None else wall_s
    if not (isfinite(inference_s) and isfinite(clock) and inference_s >= 0 and clock > 0):
        return no_interval(None, "1", "inference seconds over busy seconds", "the sums or the time are not known")
    if busy_s is not None:
        return Estimate(inference_s / clock, "1", "census", "inference seconds over busy seconds")
    return Estimate(
        inference_s / clock, "1", "bound", "inference seconds over wall seconds", inference_s / clock, inf,
        warnings=("a lower limit: idle time is inside the clock",),
    )  # fmt: skip


def residual_share(
    total_s: float, *parts_s: float, unit_of: str = "end-to-end time", counts: tuple[float, float] | None = None
) -> Estimate:
    """What sums of phases leave of a total, as end-to-end less queue and inference (frontend and transport).

    The parts are on another clock: a residual below -0.1 % of the total is clock trouble and said so. `counts` are
    the numbers of values in the total and in the parts; sums of sets that differ by 2 % or more are not compared.
    """
    if counts is not None and not abs(counts[0] - counts[1]) < SAME_SET * max(counts):
        reason = f"the sums count different requests: {counts[0]:g} and {counts[1]:g}"
        return no_interval(None, "1", f"residual of {unit_of}", reason)
    if not all(isfinite(v) and v >= 0 for v in (total_s, *parts_s)) or total_s <= 0:
        return no_interval(None, "1", f"residual of {unit_of}", "a sum is missing or the total is zero")
    value = 1 - sum(parts_s) / total_s
    notes = ("negative beyond 0.1 %: clocks disagree, or the sums are of different requests",) if value < -1e-3 else ()
    return Estimate(value, "1", "identity", f"residual of {unit_of}", warnings=notes)
