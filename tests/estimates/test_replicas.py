"""Which replica is unlike the others: by hand, by simulation, and with little or strange data."""

import numpy as np
import pytest
from scipy import special, stats

from analysis.estimates.replicas import unlike

ALIKE = [0.10, 0.12, 0.11, 0.13, 0.09, 0.115, 0.105]


def test_by_hand_each_is_held_against_the_others() -> None:
    values = [*ALIKE, 0.30]
    found = unlike(values, "logit", "1")
    y = special.logit(values)
    limit = stats.t.ppf(1 - 0.05 / (2 * 8), 6)
    for index in range(8):
        others = np.delete(y, index)
        distance = abs(y[index] - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / 7))
        assert found.is_unlike[index] == (distance > limit)
    assert found.is_unlike.tolist() == [False] * 7 + [True]


def test_by_hand_the_range_of_one_more_replica() -> None:
    found = unlike([*ALIKE, 0.30], "logit", "1").expected
    y = special.logit(ALIKE)
    reach = stats.t.ppf(1 - 0.05 / (2 * 8), 6) * y.std(ddof=1) * np.sqrt(1 + 1 / 7)
    np.testing.assert_allclose(
        [found.value, found.low, found.high], special.expit([y.mean(), y.mean() - reach, y.mean() + reach])
    )
    assert (found.n, found.n_of) == (7, "replicas")


@pytest.mark.parametrize("n", [6, 20, 300])
def test_any_false_alarm_in_at_most_five_of_a_hundred_fleets(n: int) -> None:
    rng = np.random.default_rng(n)
    alarms = [unlike(np.exp(rng.normal(3, 0.4, n)), "log", "s").is_unlike.any() for _ in range(2000)]
    assert 0.03 < np.mean(alarms) < 0.065  # Bonferroni is nearly exact here; 2,000 fleets: standard error 0.005


def test_a_replica_far_out_is_found_in_a_large_fleet() -> None:
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(0, 0.3, 1000))
    values[17] = 20.0
    assert np.flatnonzero(unlike(values, "log", "s").is_unlike).tolist() == [17]


def test_missing_values_are_never_unlike_and_not_counted() -> None:
    found = unlike([*ALIKE, float("nan"), 0.0, 1.0, 0.30], "logit", "1")
    assert found.is_unlike.tolist() == [False] * 10 + [True]
    assert found.expected.n == 7


def test_among_equal_replicas_a_different_one_stands_out_without_an_interval() -> None:
    found = unlike([16000.0] * 9 + [8000.0], "log", "tokens")
    assert found.is_unlike.tolist() == [False] * 9 + [True]
    assert (found.expected.low, found.expected.value) == (None, pytest.approx(16000))
    assert found.expected.reason == "the replicas are all alike: no scatter seen"
    assert not unlike([16000.0] * 10, "log", "tokens").is_unlike.any()


def test_few_or_no_replicas_have_a_reason() -> None:
    assert "fewer than 6" in str(unlike([0.1] * 5, "logit", "1").expected.reason)
    assert unlike([], "log", "s").expected.reason == "not computable: no replica has this figure"
    assert unlike([1e-300, 1e300, 1, 2, 3, 4, 5], "log", "s").expected.value is not None
