"""KV memory: published slopes, predictions, refusal probabilities, the two parts of a request, the pool's identity."""

from math import inf, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.kv_slope import predict, refusal_probability, refusal_probability_from, slope
from analysis.estimates.request_cost import implied_need, pool_identity, request_cost, request_cost_from_needs
from analysis.estimates.rounding import show
from analysis.estimates.share_edge import share

GIB, KIB = 2**30, 2**10
POOLS = [1_110_893, 1_085_106, 1_110_255]
AT_16384 = 540_735


def test_published_slope_from_tokens() -> None:
    per_token = 8192 * 9.8 / 768_000  # GiB per 8192 batch tokens, at 9.8 GiB per 768,000 tokens of pool
    three = slope([8192] * 3 + [16384], [*POOLS, AT_16384], "tokens/token")
    two = slope([8192] * 2 + [16384], [*POOLS[:2], AT_16384], "tokens/token")
    shown = [[round(-v * per_token, 1) for v in (e.value, e.high, e.low)] for e in (three, two)]
    assert shown == [[7.2, 6.2, 8.1], [7.1, 3.5, 10.7]]
    assert "linear between the two levels by assumption, never tested" in three.warnings
    assert "one degree of freedom" in two.warnings


def test_published_slope_from_gib_includes_zero() -> None:
    got = slope([8192, 8192, 16384], [12.08, 8.44, 6.9], "GiB/token")
    assert [round(-8192 * v, 2) for v in (got.value, got.high, got.low)] == [3.36, -36.69, 43.41]


@pytest.mark.parametrize(
    ("pools", "mean", "low", "high", "chance"), [(POOLS, 821, 748, 894, 0.04), (POOLS[:2], 819, 548, 1091, 0.13)]
)
def test_published_predictions(pools: list[float], mean: int, low: int, high: int, chance: float) -> None:
    levels, values = [8192] * len(pools) + [16384], [*pools, AT_16384]
    got = predict(levels, values, 12288, "tokens")
    assert [round(v / 1000) for v in (got.value, got.low, got.high)] == [mean, low, high]
    assert refusal_probability(levels, values, 12288, 768_000).value == pytest.approx(chance, abs=0.005)


def test_published_refusal_from_gib() -> None:
    got = refusal_probability([8192, 8192, 16384], [12.08, 8.44, 6.9], 12288, 9.8)
    assert got.value == pytest.approx(0.62, abs=0.005)
    sd, factor = float(np.std([12.08, 8.44], ddof=1)), sqrt(1 + 1 / 8 + 1 / 4)
    assert refusal_probability_from(10.5, 9.8, sd, 1, factor).value == pytest.approx(0.43, abs=0.005)
    assert refusal_probability_from(10.5, 9.8, sd, inf, factor).value == pytest.approx(0.41, abs=0.005)
    assert refusal_probability_from(10.5, 9.8, 0, 1).value is None


def test_clean_boots_promise_little() -> None:
    assert share(0, 3, "boots").high == pytest.approx(0.63, abs=0.005)
    assert share(0, 29, "boots").high == pytest.approx(0.10, abs=0.005)


def test_slope_is_scipys() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat([1.0, 2, 4], 4)
    y = 10 - x + rng.standard_normal(12)
    ours, theirs = slope(x, y, "GiB"), stats.linregress(x, y)
    assert ours.value == pytest.approx(theirs.slope)
    assert ours.high - ours.value == pytest.approx(theirs.stderr * stats.t.ppf(0.975, 10))


@pytest.mark.parametrize(
    ("levels", "values", "reason"),
    [
        ([8192, 16384], [12.08, 6.9], "one boot per level"),
        ([8192, 8192], [12.08, 8.44], "one level"),
        ([], [], "no boots"),
        ([8192, 8192, 16384], [12.0, nan, 6.9], "boots: some values are missing or not finite"),
        ([8192, 16384], [12.0], "boots: unequal lengths"),
        ([1, 1, 2, 2], [5.0, 5.0, 4.0, 4.0],
         "the boots lie exactly on the line: scatter is below the rounding of the log"),
    ],
)  # fmt: skip
def test_levels_that_carry_no_interval(levels: list[float], values: list[float], reason: str) -> None:
    for got in (
        slope(levels, values, "GiB"),
        predict(levels, values, 1, "GiB"),
        refusal_probability(levels, values, 1, 9),
    ):
        assert (got.low, got.reason) == (None, reason)


def test_a_refusal_message_gives_both_parts() -> None:
    a, b = request_cost(768_000, 9.8 * GIB, 6.9 * GIB, 35_072, 0.05 * GIB)
    assert a.value / GIB == pytest.approx(6.76, abs=0.005)
    assert b.value / KIB == pytest.approx(4.15, abs=0.005)
    assert a.value + b.value * 768_000 == pytest.approx(9.8 * GIB)
    assert a.value + b.value * 35_072 == pytest.approx(6.9 * GIB)
    assert show(a) == "6.76 GiB [6.70, 6.82]"
    corners = [
        request_cost(768_000, (9.8 + i) * GIB, (6.9 + j) * GIB, 35_072, 0) for i in (-0.05, 0.05) for j in (-0.05, 0.05)
    ]
    assert (a.low, a.high) == pytest.approx((min(c[0].value for c in corners), max(c[0].value for c in corners)))
    assert (b.low, b.high) == pytest.approx((min(c[1].value for c in corners), max(c[1].value for c in corners)))
    assert (a.kind, b.kind, b.unit) == ("bound", "bound", "bytes/token")


@pytest.mark.parametrize(("need", "b", "a"), [(8.35, 8.5, 2.1), (5.97, 3.6, 3.3), (9.8, 11.5, 1.4)])
def test_two_needs(need: float, b: float, a: float) -> None:
    fixed, per_token = request_cost_from_needs(256_000, 4.2 * GIB, 768_000, need * GIB, 0.005 * GIB)
    assert per_token.value / KIB == pytest.approx(b, abs=0.05)
    assert fixed.value / GIB == pytest.approx(a, abs=0.05)
    assert fixed.value > 0


def test_refused_parts() -> None:
    for args in (
        (35_072, 9.8, 6.9, 35_072),
        (768_000, 6.9, 6.9, 35_072),
        (nan, 9.8, 6.9, 35_072),
        (768_000, -1, 6.9, 1),
    ):
        a, b = request_cost(*args, 0.05)
        assert (a.value, b.value) == (None, None)
        assert a.reason == b.reason != ""


def test_the_two_published_boots_break_the_identity() -> None:
    available = [12.08 * GIB, 8.44 * GIB]
    needs = [implied_need(g, t, 768_000).value / GIB for g, t in zip(available, POOLS[:2], strict=True)]
    assert [round(v, 2) for v in needs] == [8.35, 5.97]
    got = pool_identity(available, POOLS[:2])
    assert (got.kind, got.verdict) == ("identity", "broken")
    assert got.value == pytest.approx(0.398, abs=0.001)
    assert pool_identity([12.08, 12.00], [1_110_893, 1_104_000]).verdict == "holds"
    assert pool_identity([12.08], [1]).reason == "one boot"
    assert implied_need(0, 1, 1).value is None


def test_equal_measures_have_no_slope_to_the_last_digit() -> None:
    # Of centred levels times 4.03 GiB the sum is -8.3e-12 and not 0.
    assert slope([512, 8192], [4.03 * 2**30] * 2, "B/token").value == 0.0
    assert slope([512, 512, 2048, 8192], [4.03 * 2**30] * 4, "B/token").value == 0.0
