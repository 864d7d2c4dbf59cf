"""Assumption: pages show the most requests that ran at once. The prefill share of step time that counters allow."""

from math import inf, isfinite

from analysis.estimates.estimate import Estimate, no_interval

METHOD = "from counters: all busy seconds less what decode alone could take .. all prefill seconds of requests"
A_RANGE = "a range, not a confidence interval: counters cannot say what was in one step"


def step_share_from_counters(
    prefill_s: float,
    decode_s: float,
    at_once: float,
    steps: float | None = None,
    slowest_decode_s: float | None = None,
    engine_s: float | None = None,
) -> Estimate:
    """The range of the prefill share of step time that counters of a run allow, where the engine logs no steps.

    `prefill_s` and `decode_s` are request-seconds and `at_once` the most requests seen running, so that the engine was
    busy for at least (prefill + decode) / at_once seconds; `engine_s`, where it exports the time of its steps, takes
    the place of that. Prefill of the engine is at most `prefill_s`: each of its seconds is one of some request's
    prefill. It is at least what `steps` that decode, of at most `slowest_decode_s` each, leave over; without these
    two the lower end is zero. An engine that is busy for longer than the least has its share inside the same range.
    """
    known = (prefill_s, decode_s, at_once, *(v for v in (steps, slowest_decode_s, engine_s) if v is not None))
    if not all(isfinite(v) and v >= 0 for v in known):
        return no_interval(None, "1", METHOD, "a sum is missing")
    busy_s = engine_s or ((prefill_s + decode_s) / at_once if at_once > 0 else 0.0)
    if busy_s <= 0:
        return no_interval(None, "1", METHOD, "no request took any time, or none was seen running")
    decoding_s = steps * slowest_decode_s if steps is not None and slowest_decode_s is not None else inf
    low, high = max(0.0, 1 - decoding_s / busy_s), min(1.0, prefill_s / busy_s)
    if low > high * (1 + 1e-9):
        return no_interval(
            None, "1", METHOD, "the counters contradict the assumption: the low end is above the high one"
        )
    return Estimate(
        None, "1", "estimate", METHOD, low, max(low, high), None,
        assumption="no more requests ran at once than the pages show, and half of all gaps between tokens or more are "
        "those of steps that only decode",
        reason=A_RANGE, warnings=(A_RANGE,),
    )  # fmt: skip
