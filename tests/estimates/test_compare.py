"""Arms against arms: verdicts, the numbers of runs that a margin needs, families, single runs."""

from math import exp, inf, log, nan

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.choose import compare as choose
from analysis.estimates.compare import against_base, all_pairs, compare, scatter_if_equal
from analysis.estimates.runs_needed import detectable_difference, inner_repeats, pairs_needed, runs_needed, tost_power

A, B = [100.0, 103.0, 98.0, 101.0], [90.0, 92.0, 88.0, 91.0]


def test_welch_is_scipys_on_logarithms() -> None:
    got = compare(A, B, margin=0.05)
    ends = stats.ttest_ind(np.log(A), np.log(B), equal_var=False).confidence_interval()
    assert (got.low, got.high) == pytest.approx((exp(ends.low), exp(ends.high)))
    assert got.value == pytest.approx(stats.gmean(A) / stats.gmean(B))
    assert (got.verdict, got.n, got.n_of) == ("different", 4, "runs per arm")


def test_pairs_take_the_session_out() -> None:
    session = np.array([1.0, 1.2, 0.8, 1.1])
    a, b = session * np.array([101, 102, 100, 101]), session * np.array([100, 100.5, 99.5, 100])
    assert compare(a, b, margin=0.05).verdict == "cannot_tell"
    paired = compare(a, b, paired=True, margin=0.05)
    assert paired.verdict == "equivalent"
    assert paired.n_of == "pairs of runs"
    assert "a difference was shown, but it is smaller than the margin" in paired.warnings


def test_three_verdicts_and_none() -> None:
    rng = np.random.default_rng(0)
    close = 100 * np.exp(0.005 * rng.standard_normal((2, 6)))
    assert compare(close[0], close[1], margin=0.05).verdict == "equivalent"
    loose = compare([100, 130, 80], [100, 110, 90], margin=0.05)
    assert loose.verdict == "cannot_tell"
    assert "runs per arm would show equivalence within 5%" in loose.warnings[-1]
    single = compare([100.0], [101.6], margin=0.05)
    assert (single.verdict, single.reason, single.low) == ("no_replicates", "one run per arm", None)
    assert compare(A, B).warnings[0] == "margin 5% by default, not declared"


def test_equivalence_is_two_one_sided_tests() -> None:
    got = compare([100, 101, 99.5, 100.2], [100.4, 100.9, 99.8, 100.0], margin=0.02)
    low, high = got.sensitivity["90 % for equivalence"]
    assert (got.verdict == "equivalent") == (low > 1 / 1.02 and high < 1.02)


@pytest.mark.parametrize(
    ("a", "b"), [([], [1.0]), ([1.0, nan], [1.0, 2.0]), ([0.0, 1.0], [1.0, 2.0]), ([5.0, 5.0], [5.0, 5.0])]
)
def test_runs_that_carry_no_interval(a: list[float], b: list[float]) -> None:
    assert compare(a, b, margin=0.05).low is None
    assert compare(a, b, paired=True).low is None
    assert compare([1.0, 2.0], [1.0], paired=True).reason == "runs: pairs are incomplete"


@pytest.mark.parametrize(
    ("cv", "equal", "apart"), [(0.01, 3, 3), (0.02, 4, 6), (0.03, 8, 12), (0.05, 19, 30)]
)  # fmt: skip
def test_runs_needed_for_five_percent(cv: float, equal: int, apart: int) -> None:
    assert (runs_needed(cv, 0.05), runs_needed(cv, 0.05, 0.016)) == (equal, apart)


def test_tost_power_against_simulation() -> None:
    rng = np.random.default_rng(2)
    n, sd, reps = 6, 0.02, 20_000
    x, y = sd * rng.standard_normal((reps, n)) + log(1.016), sd * rng.standard_normal((reps, n))
    d, se = x.mean(1) - y.mean(1), np.sqrt((x.var(1, ddof=1) + y.var(1, ddof=1)) / n)
    seen = np.mean(np.abs(d) + stats.t.ppf(0.95, 10) * se < log(1.05))
    assert tost_power(n, sd, 0.05, 0.016) == pytest.approx(seen, abs=0.01)


def test_published_detectable_differences() -> None:
    assert [round(100 * detectable_difference(n, 0.02), 1) for n in (3, 5, 10)] == [6.1, 4.0, 2.6]
    assert detectable_difference(1, 0.02) == inf


def test_hopeless_scatter_stops() -> None:
    assert runs_needed(5.0, 0.05) == 1001
    assert pairs_needed(0.01, 0.05) <= 3


def test_published_inner_repeats() -> None:
    assert (inner_repeats(10, 5, 0.02, 0.03), inner_repeats(10, 5, 0.03, 0.01)) == (1, 5)
    assert inner_repeats(10, 5, 0.02, 0.0) == 1


def test_published_single_runs() -> None:
    """Three arms that span 1.6 %: if they are equal, the scatter of runs is .95 % [.43, 5.3]."""
    got = scatter_if_equal([100.0, 101.6, 100.7])
    assert [round(100 * v, 2) for v in (got.value, got.low)] == [0.94, 0.43]
    assert round(100 * got.high, 1) == 5.2
    assert got.assumption == "the arms are equal"
    assert scatter_if_equal([5.0, 5.0]).low is None
    assert scatter_if_equal([5.0]).low is None


def test_families_are_simultaneous() -> None:
    rng = np.random.default_rng(1)
    arms = [100 * np.exp(0.02 * rng.standard_normal(5)) * f for f in (1.0, 1.0, 1.2)]
    first, second = against_base(arms[0], arms[1:])
    assert (first.verdict, second.verdict) == ("cannot_tell", "different")
    alone = compare(arms[1], arms[0], margin=0.05)
    assert first.high / first.low > alone.high / alone.low * 0.95
    pairs = all_pairs(arms)
    assert set(pairs) == {(0, 1), (0, 2), (1, 2)}
    assert pairs[0, 2].verdict == "different"
    assert pairs[0, 2].value == pytest.approx(stats.gmean(arms[0]) / stats.gmean(arms[2]))
    assert against_base([1.0], [[2.0, 3.0]])[0].reason == "one run per arm"
    assert all_pairs([[1.0, 1.0], [2.0, 2.0]])[0, 1].low is None


def test_sessions_choose_the_pairing() -> None:
    got = choose(A, B, session_a=["1", "2", "3", "4"], session_b=["4", "3", "2", "1"], margin=0.05)
    assert got.picked == "paired: 4 sessions ran both arms"
    assert got.low == pytest.approx(compare(A, B[::-1], paired=True, margin=0.05).low)
    own = choose(A, B, session_a=["1"] * 4, session_b=["2"] * 4)
    assert own.picked.startswith("unpaired")
    assert any("own sessions" in w for w in own.warnings)
    assert choose(A, B[:2], session_a=["1", "2", "3"], session_b=["1", "2", "3"]).low is None
