"""Rates, goodput, energy, tails of blocked designs, engine steps, the lever's ceiling."""

from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.amdahl import cap, lever_ceiling, mean_concurrency, residual_share
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.rates import energy_per_task, goodput, rate_of_runs, rate_per_hour
from analysis.estimates.ratio_requests import ratio_of_requests, share_of_requests
from analysis.estimates.rounding import show
from analysis.estimates.steps_share import middle_chunks_most, steps_share_at_most
from analysis.estimates.tails import quantile_difference, quantile_of_blocked


def test_rate_by_block_means() -> None:
    at = np.concatenate([np.full(count, 360.0 * i + 1) for i, count in enumerate([5, 7, 6, 4, 8, 5, 6, 7, 5, 6])])
    got = rate_per_hour(at, 0, 3600)
    ends = stats.t.interval(0.95, 9, 59, stats.sem(10 * np.array([5, 7, 6, 4, 8, 5, 6, 7, 5, 6])))
    assert got.value == pytest.approx(59.0)
    assert (got.low, got.high) == pytest.approx(ends)
    assert rate_per_hour(at[:30], 0, 1800).n == 5
    few = rate_per_hour(at[:20], 0, 3600)
    assert (few.value, few.reason) == (20.0, "fewer than 5 blocks of 5 completions")
    assert rate_per_hour([], 0, 3600).value == 0.0
    assert rate_per_hour([1.0], 5, 5).value is None
    assert rate_per_hour([nan], 0, 5).value is None
    assert rate_per_hour(np.arange(100) + 0.5, 0, 100).reason == "the blocks are all alike: no spread seen"


def test_rate_of_runs() -> None:
    got = rate_of_runs([100, 110, 90], [3600, 3600, 3600])
    assert got.value == pytest.approx(stats.gmean([100, 110, 90]))
    assert got.n_of == "runs"
    assert rate_of_runs([100], [3600]).low is None
    assert rate_of_runs([100, 100], [60, 60]).low is None


def test_goodput_counts_unfinished_as_misses() -> None:
    ok = np.tile([1, 1, 1, 0], 50)
    with_misses, finished = goodput(ok, np.arange(200.0), unfinished=40)
    assert (with_misses.value, finished.value) == (150 / 240, 0.75)
    assert finished.warnings == ("one run of 200 requests: at least this uncertain",)
    bursts = np.repeat([1, 0, 1, 0, 1], 100)
    burst = goodput(bursts, np.arange(500.0))[0]
    assert burst.n_of == "blocks"
    assert burst.high - burst.low > 0.5
    assert goodput([], [])[0].low is None
    assert goodput([2, 1], [0, 1])[0].low is None
    assert goodput([1, 1, 1], [0, 0, 0])[0].high == 1.0


def test_energy_keeps_the_meter_apart() -> None:
    got = energy_per_task([2120, 2080, 2160], [10, 10, 10])
    assert got.value == pytest.approx(212)
    low, high = got.sensitivity["with the meter's ±5%"]
    assert (low, high) == pytest.approx((got.low - 10.6, got.high + 10.6))
    assert energy_per_task([2120, 2080], [10, 10]).reason == "fewer than 3 runs"
    assert energy_per_task([nan, 1, 1], [1, 1, 1]).value is None


def test_ratios_of_requests() -> None:
    rng = np.random.default_rng(0)
    seconds = rng.lognormal(0, 0.5, 60)
    tokens = 1000 * seconds * rng.lognormal(0, 0.2, 60)
    got = ratio_of_requests(tokens, seconds, "tokens/s")
    assert got.low < 1000 * np.exp(0.02) < got.high
    run = np.repeat(["a", "b", "c", "d"], 15)
    assert ratio_of_requests(tokens, seconds, "tokens/s", run).n_of == "runs"
    assert share_of_requests(seconds, seconds * 3).reason == "the requests are all alike: no spread seen"
    assert share_of_requests(seconds[:7], seconds[:7] ** 2).reason == "fewer than 8 requests"
    assert share_of_requests(seconds, tokens, ["x"] * 60).reason == "fewer than 3 runs: one"
    assert share_of_requests(seconds, tokens, ["x"] * 3).reason == "requests: unequal lengths"
    assert ratio_of_requests(np.zeros(9), np.ones(9), "x").reason == "the ratio is zero"
    assert ratio_of_requests(np.ones(9), np.zeros(9), "x").reason == "the lower sum is zero"


def blocked(blocks: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    values = np.exp(rng.standard_normal((2, blocks // 2 * 20)))
    label = np.repeat(np.arange(blocks // 2), 20)
    return 2 * values[0], label, values[1], label


def test_tails_need_blocks() -> None:
    assert quantile_difference(*blocked(38), 0.95, "s").reason == "tail of few blocks"
    tail = quantile_difference(*blocked(40), 0.95, "s")
    assert (tail.n, tail.n_of) == (40, "blocks")
    assert tail.low < tail.value < tail.high
    assert quantile_difference(*blocked(4), 0.5, "s").reason == "fewer than 6 blocks"
    assert quantile_difference(*blocked(12), 0.5, "s").method == "paired t on block medians"
    assert quantile_difference(*blocked(20), 0.5, "s").method == "block bootstrap, percentile"
    assert quantile_difference(*blocked(40), 0.95, "s") == tail
    x, label, _, _ = blocked(40)
    assert quantile_of_blocked(x, label, 0.95, "s").n == 20
    assert quantile_of_blocked(x[:100], label[:100], 0.95, "s").reason == "tail of few blocks"
    assert quantile_of_blocked(np.ones(400), label, 0.5, "s").reason == "the blocks are all alike: no spread seen"
    assert quantile_difference([], [], [], [], 0.5, "s").low is None
    assert quantile_of_blocked([1.0], [1, 2], 0.5, "s").low is None


def test_steps_have_no_interval_but_a_range() -> None:
    steps = Buckets.from_cumulative([1, 8, 16, 8192, 16384, inf], [500, 838, 900, 998, 1000, 1000], 300_000.0)
    lengths = Buckets.from_cumulative([1000, 10_000, inf], [380, 401, 401], 200_000.0)
    got = steps_share_at_most(steps, 8, 401, lengths, 8192)
    assert (got.census.value, got.census.kind) == (0.838, "census")
    assert got.estimate.reason == "one dump, iterations are serially dependent"
    rough = got.estimate.sensitivity["rough, serial dependence guessed (n = requests / 4)"]
    assert [round(100 * v, 1) for v in rough] == [75.4, 89.7]
    assert (got.bound.low, got.bound.high) == (pytest.approx((838 - 21) / 1000), 0.838)
    assert got.census.warnings[0].startswith("2 recorded steps exceed max_num_batched_tokens")
    assert steps_share_at_most(steps, 9, 401).census.reason == "9 is not a bucket edge"
    assert steps_share_at_most(steps, 8, 0).estimate.sensitivity == {}
    assert steps_share_at_most(steps, 8, 401).bound.low is None


def test_middle_chunks_are_limited_by_tops_and_by_the_sum() -> None:
    lengths = Buckets.from_cumulative([10, 100, inf], [5, 10, 10], 180.0)
    assert middle_chunks_most(lengths, 4) == 45
    assert middle_chunks_most(lengths, 50) == 4
    assert middle_chunks_most(lengths, 100) == 0
    open_top = Buckets.from_cumulative([10, inf], [0, 1], 10_000.0)
    assert middle_chunks_most(open_top, 100) == 100


def prefill(value: float = 0.134, low: float | None = 0.111, high: float | None = 0.16) -> Estimate:
    if low is None:
        return no_interval(value, "1", "ratio of sums", "sums only, no buckets")
    return Estimate(value, "1", "estimate", "test", low, high, 0.95, 401, "requests")


def test_published_caps() -> None:
    assert round(cap(0.134), 3) == 1.155
    assert round(cap(0.134, 2), 3) == 1.072
    got = lever_ceiling(prefill(), concurrency=1.0)
    assert got.kind == "bound"
    assert [round(v, 3) for v in (got.value, got.low, got.high)] == [1.155, 1.125, 1.190]


def test_published_first_order_range() -> None:
    wall = 1860 / 11_000
    assert round(wall, 3) == 0.169
    assert round(wall / 0.134, 2) == 1.26
    got = lever_ceiling(prefill(low=None), wall / 0.134, wall)
    assert (got.value, got.kind) == (None, "estimate")
    assert [round(v, 2) for v in (got.low, got.high)] == [1.39, 1.43]
    assert got.reason == "not a bound: requests overlap (mean concurrency 1.26)"


def test_no_ceiling_without_the_facts() -> None:
    got = lever_ceiling(prefill(), 3.0)
    assert got.reason == "not a bound: requests overlap (mean concurrency 3.00)"
    assert got.low is None
    assert "concurrency unknown" in lever_ceiling(prefill(), None).reason
    assert lever_ceiling(no_interval(None, "1", "none", "no requests"), 1.0).reason == "no requests"
    assert lever_ceiling(prefill(1.0), 1.0).value is None
    assert "too low above ten requests at once" in lever_ceiling(prefill(), 12.0, 0.3).warnings
    assert lever_ceiling(prefill(), 3.0, 0.95).high == inf


def test_concurrency_and_residuals() -> None:
    assert mean_concurrency(300, 100, 200).value == 3.0
    wall = mean_concurrency(300, None, 200)
    assert (wall.kind, wall.low, wall.high) == ("bound", 1.5, inf)
    assert mean_concurrency(300, 0, 200).value is None
    assert residual_share(100, 10, 85).value == pytest.approx(0.05)
    assert residual_share(100, 10, 91).warnings
    assert not residual_share(100, 10, 90.05).warnings
    assert residual_share(0, 1).value is None
    assert residual_share(100, 10, 85, counts=(401, 405)).value == pytest.approx(0.05)
    assert residual_share(100, 10, 85, counts=(401, 410)).reason == "the sums count different requests: 401 and 410"
    assert show(residual_share(100, 10, 85)) == "5.00 %"
