"""Quantiles from values and from buckets: published ranks, open ends, ties; the interpolated value is Prometheus'."""

from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from analysis.estimates import quantile_buckets, quantile_values
from analysis.estimates.buckets import Buckets
from analysis.estimates.quantile_values import least_n, ranks
from analysis.estimates.rounding import show


@pytest.mark.parametrize(
    ("q", "r", "s", "least"), [(0.5, 181, 221, 6), (0.9, 349, 373, 36), (0.95, 372, 390, 72), (0.99, 393, 401, 368)]
)
def test_published_ranks(q: float, r: int, s: int, least: int) -> None:
    assert ranks(401, q) == (r, s)
    assert least_n(q) == least
    low, high = ranks(least, q)
    assert low >= 1
    assert high <= least
    low, high = ranks(least - 1, q)
    assert low < 1 or high > least - 1


@pytest.mark.parametrize(("n", "q"), [(6, 0.5), (50, 0.5), (401, 0.95), (1000, 0.99)])
def test_ranks_hold_95_percent(n: int, q: float) -> None:
    r, s = ranks(n, q)
    assert stats.binom.cdf(s - 1, n, q) - stats.binom.cdf(r - 1, n, q) >= 0.95


def test_values() -> None:
    values = np.arange(1.0, 402.0)
    got = quantile_values.quantile(values, 0.5, "s")
    assert (got.value, got.low, got.high, got.n) == (201.0, 181.0, 221.0, 401)
    wide = quantile_values.quantile(values, 0.5, "s", design_effect=4)
    assert wide.low < 165
    assert wide.high > 237
    few = quantile_values.quantile(values[:30], 0.95, "s")
    assert few.high == inf
    assert few.warnings == ("a two-sided interval needs 72 requests",)
    assert show(few) == "29.0 s [26.0, no upper limit]"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no requests"),
        ([1.0, nan], "requests: some values are missing or not finite"),
        ([1.0], "a two-sided interval needs 6 requests"),
        ([3.0] * 50, "the values around it are equal: finer clock needed"),
    ],
)
def test_values_that_carry_no_interval(values: list[float], reason: str) -> None:
    got = quantile_values.quantile(values, 0.5, "s")
    assert (got.low, got.reason) == (None, reason)
    assert quantile_values.quantile([1.0, 2.0], 1.0, "s").low is None


def page() -> Buckets:
    return Buckets.from_cumulative([0.1, 0.25, 0.5, 1, 2.5, inf], [100, 190, 260, 340, 395, 401], 300.0)


def test_buckets_go_from_edge_to_edge() -> None:
    got = quantile_buckets.quantile(page(), 0.5, "s")
    assert (got.value, got.low, got.high) == (None, 0.1, 0.5)
    assert show(got) == "between 100 and 500 ms"
    top = quantile_buckets.quantile(page(), 0.99, "s")
    assert (top.low, top.high) == (1.0, inf)
    assert top.warnings == ("no upper limit: above 2.5",)
    assert show(top) == "at least 1.0 s"
    few = Buckets.from_cumulative([1, inf], [3, 5], 9.0)
    assert quantile_buckets.quantile(few, 0.95, "s").high == inf
    assert quantile_buckets.quantile(Buckets.from_cumulative([1, inf], [0, 0], 0.0), 0.5, "s").reason == "no requests"


def test_interpolated_is_histogram_quantile() -> None:
    assert quantile_buckets.interpolated(page(), 0.5) == pytest.approx(0.25 + 0.25 * (200.5 - 190) / 70)
    assert quantile_buckets.interpolated(page(), 0.999) == 2.5
    assert quantile_buckets.interpolated(Buckets.from_cumulative([1, inf], [0, 0], 0.0), 0.5) is None
