"""Theil and Sen's slope: worked numbers, and to the last digit what scipy says."""

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.theil_sen import theil_sen


def test_the_slope_is_the_median_of_all_pairs() -> None:
    x, y = np.array([0.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 4.0, 10.0])
    # 1/1, 4/2, 10/2, 3/1, 9/1: the pair at one x has no slope.
    assert theil_sen(x, y)[0] == 3.0
    assert theil_sen(x[:3], y[:3])[0] == 2.0


@pytest.mark.parametrize("seed", range(20))
def test_it_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    x, y = rng.exponential(size=n), rng.normal(size=n)
    if seed % 2:  # repeats on either side
        x, y = x.round(1), y.round(1)
    x[0] = -1.0
    said = stats.theilslopes(y, x, alpha=0.95)
    assert theil_sen(x, y) == (said.slope, (said.low_slope, said.high_slope))


def test_equal_values_on_both_sides_leave_no_interval() -> None:
    # 2,250 of ten points, less 1,194 for the repeats of x and as many for those of y: no variance.
    assert theil_sen(np.array([2.0] * 8 + [4.0] * 2), np.array([1.0] * 8 + [2.0] * 2)) == (0.5, None)
    # Of y alone: 2,250 less all of it.
    assert theil_sen(np.arange(10.0), np.ones(10)) == (0.0, None)
