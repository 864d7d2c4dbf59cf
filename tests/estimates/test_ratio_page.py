"""The share of two sums from one page: which method, what it refuses, and the arithmetic."""

from math import inf, log, sqrt

import numpy as np
import pytest

from analysis.estimates.buckets import Buckets, m2_mid
from analysis.estimates.ratio_page import share_from_sums_only, share_of_sums

EDGES = [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, inf]


def histogram(values: np.ndarray) -> Buckets:
    return Buckets.from_cumulative(EDGES, [(values <= edge).sum() for edge in EDGES], float(values.sum()))


def requests(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.lognormal(0.0, 1.0, n), rng.lognormal(2.0, 0.7, n)


def test_large_n_uses_the_identity_and_the_bound_is_wider() -> None:
    x, y = requests(401)
    got = share_of_sums(histogram(x), histogram(y), histogram(x + y))
    r = x.sum() / (x + y).sum()
    assert (got.census.kind, got.census.value, got.census.low) == ("census", pytest.approx(r), None)
    assert got.estimate.method.startswith("bucket spread, wider of three-histogram identity and no correlation")
    assert got.estimate.n == 401
    assert got.bound.kind == "bound"
    assert got.bound.low < got.estimate.low < r < got.estimate.high < got.bound.high
    z = (1 - r) * x - r * y
    exact = z.std(ddof=1) / sqrt(401) / (x + y).mean() / (r * (1 - r)) * 1.96
    half = (log(got.estimate.high / (1 - got.estimate.high)) - log(got.estimate.low / (1 - got.estimate.low))) / 2
    assert half == pytest.approx(exact, rel=0.12)


def test_small_n_takes_the_worst_correlation() -> None:
    x, y = requests(50)
    got = share_of_sums(histogram(x), histogram(y), histogram(x + y))
    assert "correlation -1" in got.estimate.method
    r = x.sum() / (x + y).sum()
    sx, sy = (sqrt((m2_mid(histogram(v)) - v.sum() ** 2 / 50) / 49) for v in (x, y))
    se = ((1 - r) * sx + r * sy) / sqrt(50) / (x + y).mean() / (r * (1 - r))
    logit = log(got.estimate.high / (1 - got.estimate.high)) - log(r / (1 - r))
    assert logit == pytest.approx(2.0095752 * se)


def test_missing_inference_histogram_is_said() -> None:
    x, y = requests(401)
    got = share_of_sums(histogram(x), histogram(y)).estimate
    assert "correlation -1" in got.method
    assert "correlation unknown, worst case" in got.warnings


def test_fewer_than_eight_is_a_census() -> None:
    x, y = requests(7)
    got = share_of_sums(histogram(x), histogram(y), histogram(x + y))
    assert got.census.value == pytest.approx(x.sum() / (x + y).sum())
    assert got.estimate.low is None
    assert got.estimate.reason == "fewer than 8 requests"


def test_design_effect_widens_on_the_log_odds() -> None:
    x, y = requests(401)
    got = share_of_sums(histogram(x), histogram(y), histogram(x + y)).estimate
    low2, high2 = got.sensitivity["design effect 2"]
    odds = [log(p / (1 - p)) for p in (got.low, got.high, low2, high2)]
    assert (odds[3] - odds[2]) / (odds[1] - odds[0]) == pytest.approx(sqrt(2))
    assert got.to_json()["sensitivity"]["design effect 5"][0] < low2


def test_requests_in_flight_make_it_early() -> None:
    x, y = requests(100)
    args = histogram(x), histogram(y), histogram(x + y)
    assert share_of_sums(*args, running=6).census.warnings[0].startswith("early: 6 requests were still running")
    assert not any(w.startswith("early") for w in share_of_sums(*args, running=5).census.warnings)


def test_open_top_is_said() -> None:
    x, y = requests(100)
    y[0] = 500.0
    got = share_of_sums(histogram(x), histogram(y), histogram(x + y)).estimate
    assert got.warnings == ("open top bucket: 1 requests above 240; their spread is only known from the sum",)


def test_contradictions_and_degenerate_inputs_are_refused() -> None:
    x, y = requests(100)
    hx, hy, ht = histogram(x), histogram(y), histogram(x + y)
    none = histogram(np.zeros(0))
    zeros = histogram(np.zeros(100))
    cases = {
        "the histograms count different numbers of requests: part 100, rest 99": (hx, histogram(y[1:]), None),
        "the sum of the whole is not the sum of the parts": (hx, hy, histogram((x + y) * 1.001)),
        "no requests": (none, none, none),
        "both sums are zero": (zeros, zeros, zeros),
        "part: the sum does not fit the buckets": (Buckets(hx.upper, hx.counts, hx.total * 100), hy, ht),
    }
    for why, args in cases.items():
        got = share_of_sums(*args)
        assert (got.estimate.value, got.estimate.reason) == (None, why)
    all_part = share_of_sums(hx, zeros, hx)
    assert all_part.census.value == 1.0
    assert all_part.estimate.reason == "the share is exactly 1"


def test_two_sums_alone_give_no_interval() -> None:
    got = share_from_sums_only(13.4, 86.6, 401)
    assert (got.value, got.low, got.reason) == (pytest.approx(0.134), None, "sums only, no buckets")
    assert share_from_sums_only(0, 0).value is None
    assert share_from_sums_only(float("nan"), 1).value is None
