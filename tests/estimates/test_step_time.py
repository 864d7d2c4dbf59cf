"""Whose seconds a step's are: the rule on steps worked out by hand, and its limits on any steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.step_time import prefill_seconds, step_share, step_windows


def test_a_mixed_step_is_decode_up_to_what_decode_alone_takes() -> None:
    elapsed = [1.0, 3.0, 2.0, 5.0, 9.0, 1.5]
    context = [0, 0, 0, 1, 1, 2]
    generation = [1, 1, 1, 0, 1, 1]
    # Decode alone takes 1, 3, 2: median 2. Context only: 5. Mixed: 9 - 2, and 1.5 which is below 2.
    found = prefill_seconds(elapsed, context, generation)
    assert found is not None
    assert found.tolist() == [0, 0, 0, 5, 7, 0]


@pytest.mark.parametrize(("requests", "left"), [(1, 9.0), (2, 8.5), (3, 8.0), (4, 7.0), (9, 7.0)])
def test_a_count_that_never_decoded_alone_lies_between_its_neighbours(requests: int, left: float) -> None:
    found = prefill_seconds([2.0, 3.0, 1.0, 10.0], [0, 0, 0, 1], [3, 4, 1, requests])
    assert found is not None
    assert found[-1] == left


def test_without_a_step_that_only_decodes_there_is_a_range_and_no_point() -> None:
    share = step_share([1.0, 3.0], [1, 1], [0, 2])
    assert (share.estimate.value, share.estimate.reason) == (
        None, "no step only decodes, so mixed steps cannot be divided",
    )  # fmt: skip
    assert (share.bound.low, share.bound.high, share.bound.kind) == (0.25, 1.0, "bound")


def test_few_steps_have_a_share_and_no_interval_and_steps_are_never_its_n() -> None:
    few = step_share([1.0, 3.0] * 10, [0, 1] * 10, [1, 0] * 10).estimate
    assert few.value == 0.75
    assert few.low is None
    rng = np.random.default_rng(5)
    many = step_share(rng.gamma(2, 1, 2000), rng.integers(0, 2, 2000), np.ones(2000)).estimate
    assert many.low is not None and many.high is not None and many.value is not None
    assert 0 < many.low < many.value < many.high < 1
    assert many.n is not None and many.n <= 50
    assert many.n_of in ("blocks", "windows")


def test_steps_without_requests_are_left_out_and_said() -> None:
    share = step_share([1.0, 3.0, 6.0], [0, 1, 0], [1, 0, 0])
    assert share.estimate.value == 0.75
    assert share.estimate.warnings == ("1 steps without any request left out",)
    assert step_share([1.0], [0], [0]).estimate.reason == "no step did any work"
    assert step_share([], [], []).estimate.reason == "no steps"
    assert step_share([float("nan")], [1], [1]).estimate.value is None


def test_a_long_step_is_in_every_window_that_it_covers() -> None:
    elapsed = np.array([10.0, 1, 1, 1, 1, 1, 1, 1, 1, 2])
    windows = step_windows(elapsed, np.array([10.0, *[0] * 9]), np.zeros(10))
    assert windows.whole.tolist() == [10, 10]
    assert windows.part.tolist() == [10, 0]


def test_engines_beside_each_other_share_the_windows() -> None:
    elapsed, prefill, engine = np.ones(40), np.tile([1.0, 0.0], 20), np.tile([0.0, 1.0], 20)
    windows = step_windows(elapsed, prefill, engine)
    assert windows.whole.tolist() == [10] * 4
    assert windows.part.tolist() == [5] * 4
    assert windows.span_s == 20


STEP = st.tuples(st.floats(0.001, 100), st.integers(0, 3), st.integers(0, 5))


@given(st.lists(STEP, min_size=1, max_size=60))
def test_the_share_lies_in_its_range(steps: list[tuple[float, int, int]]) -> None:
    share = step_share(*np.array(steps).T)
    if share.estimate.value is not None and share.bound.low is not None and share.bound.high is not None:
        assert share.bound.low - 1e-9 <= share.estimate.value <= share.bound.high + 1e-9
