"""The method follows from what data exist, and the estimate says which it was."""

import numpy as np
import pytest
from simulated_traffic import Mix, histogram

from analysis.estimates import choose
from analysis.estimates.ratio_page import share_of_sums
from analysis.estimates.ratio_scrapes import Windows


def data(n: int = 401) -> tuple[np.ndarray, np.ndarray]:
    x, y = Mix().draw(np.random.default_rng(0), n)
    return x, y


def windows(x: np.ndarray, y: np.ndarray, k: int) -> Windows:
    window = np.arange(len(x)) * k // len(x)
    start = np.arange(k) * 15.0
    sums = [np.bincount(window, v, minlength=k) for v in (x, x + y, np.ones(len(x)))]
    return Windows.of(start, start + 15, *sums)


def test_order_of_the_shares() -> None:
    x, y = data()
    page = share_of_sums(histogram(x), histogram(y), histogram(x + y))
    everything = choose.share(windows=windows(x, y, 100), requests=(x, y), page=page, sums=(1.0, 2.0))
    assert everything.picked.startswith("scrapes: they alone show drift")
    few = choose.share(windows=windows(x, y, 5), requests=(x, y), page=page)
    assert few.picked.startswith("requests: per-request values exist")
    assert few.picked.endswith("not scrapes (fewer than 10 windows with requests)")
    by_run = choose.share(requests=(x, y), cluster=np.arange(401) // 41)
    assert (by_run.n, by_run.n_of) == (10, "runs")
    two_runs = choose.share(requests=(x, y), cluster=np.arange(401) // 201, page=page)
    assert (two_runs.low, two_runs.reason) == (None, "fewer than 3 runs")
    assert choose.share(page=page, sums=(x.sum(), y.sum())).picked.startswith("one page")
    only = choose.share(sums=(x.sum(), y.sum()))
    assert only.reason == "sums only, no buckets"
    assert only.value == pytest.approx(x.sum() / (x + y).sum())
    assert choose.share().reason == "not computable: no scrapes, requests, histograms or sums"


def test_order_of_the_quantiles() -> None:
    x, _ = data()
    b = histogram(x)
    assert choose.quantile(0.5, "s", values=x, buckets=b).picked.startswith("values: taken as independent")
    assert choose.quantile(0.5, "s", values=x, block=np.arange(401) // 21).picked.startswith("values in blocks")
    assert choose.quantile(0.5, "s", buckets=b).picked.startswith("buckets")
    assert choose.quantile(0.5, "s").value is None
    tail = choose.quantile(0.95, "s", values=x, block=np.arange(401) // 100, buckets=b)
    assert (tail.low, tail.reason) == (None, "tail of few blocks")
