"""Families of comparisons: intervals that hold together, verdicts at the rates that docs/methods.md promises."""

from math import exp, log

import numpy as np
import pytest
from scipy import stats

from analysis.estimates.choose import compare as choose
from analysis.estimates.compare import compare
from analysis.estimates.family import compare_pairs
from analysis.estimates.runs_needed import detectable_difference, runs_needed, runs_to_show

RUNS = {
    "A": [100.0, 103.0, 98.0, 101.0],
    "B": [90.0, 92.0, 88.0, 91.0],
    "C": [101.0, 99.0, 102.0, 100.5],
}
BASE = [("A", "B"), ("A", "C")]
ALL = [("A", "B"), ("A", "C"), ("B", "C")]


def test_one_pair_is_no_family() -> None:
    assert compare_pairs(RUNS, [("A", "B")], margin=0.05)["A", "B"] == choose(RUNS["B"], RUNS["A"], margin=0.05)


def test_arms_against_a_base_are_dunnetts_or_wider() -> None:
    found = compare_pairs(RUNS, BASE, margin=0.05)
    logs = {arm: np.log(values) for arm, values in RUNS.items()}
    ends = stats.dunnett(logs["B"], logs["C"], control=logs["A"], rng=np.random.default_rng(0)).confidence_interval(
        0.95
    )
    for i, pair in enumerate(BASE):
        alone = compare(RUNS[pair[1]], RUNS["A"], margin=0.05)
        assert found[pair].low == pytest.approx(min(exp(ends.low[i]), alone.low))
        assert found[pair].high == pytest.approx(max(exp(ends.high[i]), alone.high))
        assert found[pair].sensitivity["this comparison alone, not one of 2"] == (alone.low, alone.high)
    assert found["A", "B"].value == pytest.approx(stats.gmean(RUNS["B"]) / stats.gmean(RUNS["A"]))
    assert [found[pair].verdict for pair in BASE] == ["different", "equivalent"]


def test_all_pairs_are_tukeys_or_wider() -> None:
    found = compare_pairs(RUNS, ALL, margin=0.05)
    logs = [np.log(RUNS[arm]) for arm in "ABC"]
    ends = stats.tukey_hsd(*logs).confidence_interval(0.95)
    for (a, b), e in found.items():
        i, j = "ABC".index(b), "ABC".index(a)
        alone = compare(RUNS[b], RUNS[a], margin=0.05)
        assert e.low == pytest.approx(min(exp(ends.low[i, j]), alone.low))
        assert e.method.startswith("Tukey")


def test_pairs_of_sessions_are_bonferronis() -> None:
    sessions = {arm: ["1", "2", "3", "4"] for arm in RUNS}
    found = compare_pairs(RUNS, BASE, sessions=sessions, margin=0.05)["A", "B"]
    d = np.log(RUNS["B"]) - np.log(RUNS["A"])
    reach = stats.t.ppf(1 - 0.05 / 4, 3) * d.std(ddof=1) / 2
    assert (found.low, found.high) == pytest.approx((exp(d.mean() - reach), exp(d.mean() + reach)))
    assert found.n_of == "pairs of sessions"
    assert "Bonferroni" in found.method


def test_several_runs_of_a_session_are_one_value() -> None:
    a, b = [100.0, 110.0, 90.0], [120.0, 99.0, 130.0]
    got = choose(a, b, session_a=["1", "1", "2"], session_b=["1", "2", "3"], margin=0.05)
    assert got.value == pytest.approx(exp((log(np.sqrt(11000.0) / 120) + log(90 / 99)) / 2))
    assert (got.n, got.picked) == (
        2,
        "paired: 2 sessions ran both arms; 1 runs of sessions without the other arm left out",
    )


def test_an_arm_of_one_run_never_gets_a_verdict_and_leaves_the_family() -> None:
    rng = np.random.default_rng(3)
    for ratio in (1.0, 1.0 + 1e-12, 1.01, 2.0, *rng.lognormal(0, 0.01, 20)):
        found = compare_pairs({**RUNS, "D": [100.5 * ratio]}, [*BASE, ("A", "D")], margin=0.5)
        assert (found["A", "D"].verdict, found["A", "D"].low) == ("no_replicates", None)
        assert found["A", "B"] == compare_pairs(RUNS, BASE, margin=0.5)["A", "B"]
    alone = compare_pairs({"A": [5.0], "B": [5.0]}, [("A", "B")], margin=0.5)["A", "B"]
    assert alone.verdict == "no_replicates"


def test_identical_runs_are_no_equality() -> None:
    found = compare_pairs({"A": [5.0, 5.0], "B": [5.0, 5.0]}, [("A", "B")], margin=0.05)["A", "B"]
    assert (found.verdict, found.low, found.reason) == ("cannot_tell", None, "the runs of each arm are identical")


def test_an_undecided_comparison_names_the_further_runs() -> None:
    x, y = [100.0, 104.0, 99.0], [106.0, 101.0, 109.0]
    logs = np.log(y), np.log(x)
    sd = float(np.sqrt((logs[0].var(ddof=1) + logs[1].var(ddof=1)) / 2))
    said = compare(y, x, margin=0.02).warnings[-1]
    equal = runs_needed(sd, 0.02) - 3
    seen = runs_to_show(abs(float(logs[0].mean() - logs[1].mean())), sd) - 3
    assert said == (
        f"at this scatter about {equal} further runs per arm would show equivalence within 2% if the arms are equal, "
        f"about {seen} further runs per arm a difference as large as seen (4%)"
    )


def test_runs_to_show_agrees_with_the_detectable_difference() -> None:
    for n in (3, 5, 10):
        difference = detectable_difference(n, 0.02)
        assert runs_to_show(difference * 1.001, 0.02) == n
        assert runs_to_show(difference * 0.99, 0.02) == n + 1
    assert runs_to_show(0.0, 0.02) == 1001


def _rates(ratio: float, n: int, sd: float, margin: float, studies: int = 1000) -> dict[str, float]:
    rng = np.random.default_rng(11)
    verdicts = [
        compare(ratio * np.exp(sd * rng.standard_normal(n)), np.exp(sd * rng.standard_normal(n)), margin=margin).verdict
        for _ in range(studies)
    ]
    return {v: verdicts.count(v) / studies for v in ("different", "equivalent", "cannot_tell", "no_replicates")}


def test_verdict_rates_of_known_truths() -> None:
    """Simulation error at 1,000 studies: two and a half points at 80 %, one and a half at 5 %."""
    equal = _rates(1.0, runs_needed(0.02, 0.05), 0.02, 0.05)
    assert 0.72 < equal["equivalent"] < 0.9  # advised for a power of 80 %; Welch's degrees of freedom cost a little
    assert equal["different"] <= 0.065
    apart = _rates(1.05, 5, 0.02, 0.05)
    assert apart["equivalent"] <= 0.065  # one margin apart: equality is claimed wrongly in 5 % at most
    seen = _rates(exp(detectable_difference(5, 0.02)), 5, 0.02, 0.001)
    assert 0.75 < seen["different"] < 0.84
    assert _rates(1.0, 1, 0.02, 0.5, 50)["no_replicates"] == 1.0


def test_no_difference_is_seen_among_equal_arms_in_nineteen_families_of_twenty() -> None:
    rng = np.random.default_rng(12)
    pairs, wrong, studies = [("A", "B"), ("A", "C"), ("A", "D")], 0, 150
    for _ in range(studies):
        values = {arm: 100 * np.exp(0.03 * rng.standard_normal(3)) for arm in "ABCD"}
        wrong += any(e.low > 1 or e.high < 1 for e in compare_pairs(values, pairs, margin=0.001).values())
    assert wrong / studies <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)
    plain = sum(
        any(compare(v[arm], v["A"], margin=0.001).verdict == "different" for arm in "BCD")
        for v in ({a: np.exp(0.03 * rng.standard_normal(3)) for a in "ABCD"} for _ in range(600))
    )
    assert plain / 600 > 0.07  # one by one, they would be wrong more often


def test_sessions_that_ran_both_arms_take_the_session_out() -> None:
    """Session scatter 3 %, run scatter 1 %, truth 1.6 %: pairs cover; sessions of their own get a warning."""
    rng, held, studies = np.random.default_rng(13), 0, 600
    names = ["1", "2", "3", "4", "5"]
    for _ in range(studies):
        session = 0.03 * rng.standard_normal(5)
        a, b = (np.exp(session + shift + 0.01 * rng.standard_normal(5)) for shift in (0.0, log(1.016)))
        got = choose(b, a, session_a=names, session_b=names, margin=0.05)
        held += got.low < 1.016 < got.high
    assert held / studies == pytest.approx(0.95, abs=0.025)
    own = choose([1.0, 1.01, 1.02], [1.1, 1.12, 1.11], session_a=["1"] * 3, session_b=["2"] * 3)
    assert "each arm ran in its own sessions" in own.warnings[-1]
