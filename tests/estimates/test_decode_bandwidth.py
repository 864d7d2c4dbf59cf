"""Decode steps against memory: worked numbers."""

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.decode_bandwidth import bandwidth_share, steps_ceiling, steps_per_second


def test_the_ceiling_is_bandwidth_over_weights() -> None:
    got = steps_ceiling(273e9, 60 * 2**30, 0.005 * 2**30)
    assert got.kind == "bound"
    assert got.value == pytest.approx(273e9 / (60 * 2**30))
    assert (got.low, got.high) == (pytest.approx(273e9 / (60.005 * 2**30)), pytest.approx(273e9 / (59.995 * 2**30)))
    assert "dense model" in got.assumption
    for bad in ((0, 1), (1, 0), (-1, 1), (float("nan"), 1), (1, float("inf"))):
        assert steps_ceiling(*bad).value is None


def test_steps_a_second_have_blocks_of_time_as_units() -> None:
    seconds = np.repeat([0.1, 0.2], 100)
    got = steps_per_second(seconds)
    assert got.value == pytest.approx(200 / 30)
    middle = np.cumsum(seconds) - seconds / 2
    block = np.minimum((middle / 3).astype(int), 9)
    residual = np.bincount(block, 1 - got.value * seconds)
    reach = stats.t.ppf(0.975, 9) * np.sqrt(10 * residual.var(ddof=1)) / 30 / got.value
    assert (got.low, got.high) == pytest.approx((got.value * np.exp(-reach), got.value * np.exp(reach)))
    assert (got.n, got.unit) == (10, "1/s")
    assert steps_per_second([0.1] * 20).reason == "fewer than 50 steps"
    assert steps_per_second([]).value is None


def test_the_share_carries_both_intervals_and_says_when_it_is_impossible() -> None:
    achieved = steps_per_second(np.repeat([0.1, 0.2], 100))
    got = bandwidth_share(achieved, steps_ceiling(100.0, 5.0, 0.5))
    assert got.value == pytest.approx(200 / 30 / 20)
    assert (got.low, got.high) == (
        pytest.approx(achieved.low / (100 / 4.5)),
        pytest.approx(achieved.high / (100 / 5.5)),
    )
    assert not any(w.startswith("above 1") for w in got.warnings)
    assert any(w.startswith("above 1") for w in bandwidth_share(achieved, steps_ceiling(10.0, 5.0)).warnings)
    assert bandwidth_share(achieved, steps_ceiling(0, 1)).reason == "bandwidth and weights are numbers above zero"
    assert bandwidth_share(steps_per_second([]), steps_ceiling(1, 1)).reason == "no steps"
