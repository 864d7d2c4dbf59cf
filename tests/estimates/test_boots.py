"""Few boots: the published worked numbers and everything two boots cannot say."""

from math import isfinite, nan

import numpy as np
import pytest

from analysis.estimates.boots import (
    mean_boot,
    next_boot,
    pooled_spread,
    ratio_of_spreads,
    seen_range,
    spread,
    two_boots_chance,
)
from analysis.estimates.rounding import show

GIB, TOKENS = [12.08, 8.44], [1_110_893, 1_085_106]
THREE = [*TOKENS, 1_110_255]


@pytest.mark.parametrize(
    ("values", "sd", "low", "high"),
    [(GIB, 0.254, 0.113, 8.09), (TOKENS, 0.0166, 0.0074, 0.53), (THREE, 0.0134, 0.0070, 0.084)],
)
def test_published_spreads(values: list[float], sd: float, low: float, high: float) -> None:
    got = spread(values)
    assert (got.value, got.low, got.high) == pytest.approx((sd, low, high), rel=6e-3)


def test_published_next_boots() -> None:
    two, three = next_boot(TOKENS, "tokens"), next_boot(THREE, "tokens")
    assert [round(v / 1000) for v in (two.low, two.high)] == [848, 1422]
    assert [round(v / 1000) for v in (three.value, three.low, three.high)] == [1102, 1031, 1178]
    assert show(three) == "1,100k tokens [1,030k, 1,180k]"
    assert [round(v / 1000) for v in (mean_boot(TOKENS, "tokens").low, mean_boot(TOKENS, "tokens").high)] == [946, 1275]
    gib = next_boot([v * 2**30 for v in GIB], "bytes")
    assert gib.low is None
    assert show(gib) == "10 GiB (no interval: no useful limit from 2 boots; one more boot narrows it most)"


def test_seen_range_needs_no_distribution() -> None:
    got = seen_range(THREE, "tokens")
    assert (got.low, got.high, got.confidence) == (1_085_106, 1_110_893, 0.5)
    assert seen_range([5], "tokens").low is None


def test_two_measures_on_two_boots() -> None:
    got = ratio_of_spreads(GIB, TOKENS)
    assert got.value == pytest.approx(15.3, abs=0.05)
    assert got.reason == "undefined for two boots; four settle it"
    assert "probability 0.083" in got.warnings[0]
    assert two_boots_chance(1.0) == pytest.approx(1.0)


def test_pitman_morgan_inverts_its_own_test() -> None:
    """At either end of the interval the t statistic of sum against difference is exactly the critical value."""
    rng = np.random.default_rng(5)
    a, b = np.exp(rng.standard_normal(8)), np.exp(0.3 * rng.standard_normal(8))
    got = ratio_of_spreads(a, b)
    for end in (got.low, got.high):
        scaled = np.log(a) / end
        r = np.corrcoef(scaled + np.log(b), scaled - np.log(b))[0, 1]
        assert abs(r) * np.sqrt(6 / (1 - r * r)) == pytest.approx(2.4469118)


def test_pooled_spread() -> None:
    got = pooled_spread([[1.0, 1.1], [2.0, 2.1], [5.0, 5.2]])
    squares = sum(np.log(b / a) ** 2 / 2 for a, b in ((1, 1.1), (2, 2.1), (5, 5.2)))
    assert got.value == pytest.approx(np.sqrt(squares / 3))
    assert got.warnings
    assert pooled_spread([[1.0], [2.0]]).reason == "one boot per arm"
    assert pooled_spread([]).low is None
    assert pooled_spread([[1.0, 1.0], [2.0, 2.0]]).low is None


@pytest.mark.parametrize(
    "values", [[], [5.0], [5.0, 5.0], [1.0, nan], [1.0, 0.0], [1.0, -2.0], ["x", 2.0], [None, 1.0]]
)
def test_nothing_is_said_of_what_cannot_carry_it(values: list[float]) -> None:
    for got in (
        spread(values),
        next_boot(values, "tokens"),
        mean_boot(values, "tokens"),
        ratio_of_spreads(values, GIB),
    ):
        assert got.low is None
        assert got.reason
        assert got.value is None or isfinite(got.value)
