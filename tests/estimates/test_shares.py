"""Shares of requests: the published worked numbers, scipy as the oracle, and data that cannot carry an interval."""

from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.buckets import Buckets
from analysis.estimates.prefix_hits import hit_share, hit_share_from_effective_n, hit_share_from_requests
from analysis.estimates.rounding import show
from analysis.estimates.share_edge import finish_share, share, share_at_most, wilson


def percent(pair: tuple[float | None, float | None]) -> list[float]:
    return [round(100 * end, 1) for end in pair if end is not None]


def test_published_finish_reasons() -> None:
    got = finish_share(280, 405)
    assert percent((got.value, got.low)) + percent((got.high, None)) == [69.1, 64.5, 73.4]
    assert show(got) == "69 % [64, 74]"
    assert (got.method, got.n, got.n_of) == ("Wilson", 405, "requests")


@pytest.mark.parametrize(("k", "n"), [(1, 11), (280, 405), (499, 500), (7, 13)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    assert wilson(k / n, n) == pytest.approx(tuple(stats.binomtest(k, n).proportion_ci(0.95, "wilson")))


def test_few_and_none() -> None:
    assert (share(3, 8).low, share(3, 8).high) == pytest.approx(tuple(stats.binomtest(3, 8).proportion_ci(0.95)))
    none = share(0, 300)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.05 ** (1 / 300)))
    assert none.high == pytest.approx(3 / 300, rel=0.01)
    assert (share(12, 12).low, share(12, 12).high) == (pytest.approx(0.05 ** (1 / 12)), 1.0)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (5, 4), (-1, 4), (nan, 4), (1, nan), (1.5, 4), (1, inf)])
def test_no_share(k: float, n: float) -> None:
    got = share(k, n)
    assert got.low is None
    assert got.reason


def test_share_at_an_edge_and_off_it() -> None:
    b = Buckets.from_cumulative([1, 8, 16, inf], [100, 338, 390, 401], 3000.0)
    assert share_at_most(b, 8).value == pytest.approx(338 / 401)
    off = share_at_most(b, 10)
    assert off.value is None
    assert (off.low, off.high) == (share(338, 401).low, share(390, 401).high)
    assert show(off) == "between 80 and 99 %"
    above = share_at_most(b, 20)
    assert (above.low, above.high) == (share(390, 401).low, 1.0)
    below = share_at_most(b, 0.5)
    assert (below.low, below.high) == (0.0, share(100, 401).high)
    assert share_at_most(b, nan).low is None
    assert share_at_most(Buckets.from_cumulative([1, inf], [0, 0], 0.0), 1).reason == "no requests"


@pytest.mark.parametrize(("cv", "low", "high"), [(1.0, 1.8, 7.3), (1.5, 1.5, 8.7), (2.0, 1.3, 10.4)])
def test_published_prefix_hits(cv: float, low: float, high: float) -> None:
    got = hit_share_from_effective_n(0.037, 401, cv)
    assert percent((got.low, got.high)) == [low, high]


def test_kish_from_buckets_and_from_requests_agree() -> None:
    rng = np.random.default_rng(0)
    lengths = np.ceil(rng.lognormal(6, 1, 401))
    edges = [2**k for k in range(3, 16)] + [inf]
    b = Buckets.from_cumulative(edges, [(lengths <= e).sum() for e in edges], float(lengths.sum()))
    hits = np.where(rng.random(401) < 0.03, lengths, 0)
    page, each = hit_share(float(hits.sum()), float(lengths.sum()), b), hit_share_from_requests(hits, lengths)
    assert page.value == pytest.approx(each.value)
    assert page.high == pytest.approx(each.high, rel=0.1)
    assert page.sensitivity["longest prompts the buckets allow"][1] > page.high
    assert (page.n, page.n_of) == (401, "requests")


def test_many_hits_use_the_delta_interval() -> None:
    rng = np.random.default_rng(1)
    lengths = rng.lognormal(6, 1, 500)
    got = hit_share_from_requests(lengths * rng.random(500), lengths)
    assert "delta" in got.method
    assert got.low < got.value < got.high


def test_hits_that_cannot_be() -> None:
    assert hit_share(5, 4, None).value is None
    assert hit_share(1, 0, None).reason == "no queried tokens"
    assert hit_share(1, 10, None).reason == "tokens are not trials, and prompt lengths are not known"
    assert hit_share_from_requests([1, 2], [1]).reason == "requests: unequal lengths"
    assert hit_share_from_requests([], []).reason == "no requests"
    assert hit_share_from_requests([2], [1]).low is None
    assert hit_share_from_requests([0, 0], [5, 5]).high > 0
    assert hit_share_from_effective_n(nan, 10, 1).low is None
