"""What counters allow for step time, and what prefill holds up: worked numbers, and an engine made by hand."""

from math import inf, nan

import numpy as np
import pytest

from analysis.estimates.counter_step_time import step_share_from_counters
from analysis.estimates.step_time import held_share, step_share
from analysis.estimates.trace_step_time import held_share_from_traces


def test_the_range_of_counters_worked_by_hand() -> None:
    # Two at once: busy for at least 50 s. At most 20 s of prefill; 300 steps of at most 0.1 s leave 20 s of 50.
    got = step_share_from_counters(20, 80, 2, 300, 0.1)
    assert (got.low, got.high, got.value, got.confidence) == (pytest.approx(0.4), pytest.approx(0.4), None, None)
    wide = step_share_from_counters(20, 80, 4, 300, 0.1)
    assert (wide.low, wide.high) == (0.0, pytest.approx(0.8))
    assert wide.reason == "a range, not a confidence interval: counters cannot say what was in one step"
    assert (step_share_from_counters(20, 80, 4).low, step_share_from_counters(90, 10, 4).high) == (0.0, 1.0)


def test_an_engine_that_exports_its_step_time_needs_no_count_of_requests() -> None:
    got = step_share_from_counters(20, 80, 0, 250, 0.2, engine_s=60)
    assert (got.low, got.high) == (pytest.approx(1 / 6), pytest.approx(1 / 3))
    broken = step_share_from_counters(20, 80, 0, 100, 0.2, engine_s=60)
    assert broken.low is None
    assert broken.reason == "the counters contradict the assumption: the low end is above the high one"


@pytest.mark.parametrize("case", [(nan, 1, 1), (1, inf, 1), (-1, 2, 1), (0, 0, 3), (3, 4, 0)])
def test_what_gives_no_range(case: tuple[float, float, float]) -> None:
    got = step_share_from_counters(*case)
    assert got.low is None and got.value is None and got.reason


def _engine(seed: int = 3) -> tuple[np.ndarray, ...]:
    """Steps of an engine: decode of n takes 0.1 s; every tenth step carries a prompt that takes 0.5 s more."""
    rng = np.random.default_rng(seed)
    generation = rng.integers(1, 4, 600).astype(float)
    context = (np.arange(600) % 10 == 0).astype(float)
    return 0.1 + 0.5 * context, context, generation


def test_what_prefill_holds_is_own_steps_and_others_waits() -> None:
    elapsed, context, generation = _engine()
    got = held_share(elapsed, context, generation)
    part = (0.6 * context + 0.5 * context * generation).sum()
    assert got.value == pytest.approx(part / (elapsed * (context + generation)).sum())
    assert got.low is not None and got.low < got.value < got.high
    assert (step_share(elapsed, context, generation).estimate.value or 0) == pytest.approx(
        0.5 * context.sum() / elapsed.sum()
    )
    assert held_share([], [], []).reason == "no steps"
    assert held_share([1.0], [1], [1]).reason == "no step only decodes, so mixed steps cannot be divided"


def _traces(elapsed: np.ndarray, context: np.ndarray) -> tuple[np.ndarray, ...]:
    """Three streams that decode throughout, and prompts that come one after another, each one step long."""
    clock = np.concatenate(([0.0], np.cumsum(elapsed)))
    starts, stops = clock[:-1][context > 0], clock[1:][context > 0]
    sent, first = np.concatenate(([0.0] * 3, starts)), np.concatenate(([0.0] * 3, stops))
    end = np.concatenate(([clock[-1]] * 3, stops))
    gaps = np.tile(clock[:-1], 3), np.tile(clock[1:], 3)
    return sent, first, end, *gaps


def test_traces_read_what_the_steps_say() -> None:
    elapsed, context, _ = _engine()
    truth = held_share(elapsed, context, np.full(600, 3.0))
    got = held_share_from_traces(*_traces(elapsed, context))
    assert got.value == pytest.approx(truth.value, rel=1e-6)


def test_traces_without_gaps_say_what_it_takes() -> None:
    got = held_share_from_traces([0.0], [1.0], [2.0], [1.0], [2.0])
    assert got.reason == "it takes 10 gaps in decode alone, and one beside a prefill"
    assert held_share_from_traces([1.0], [0.0], [2.0], [1.0], [2.0]).reason == "requests: times are out of order"
    assert held_share_from_traces([], [], [], [], []).value is None
