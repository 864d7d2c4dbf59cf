"""What bucket counts and an exact sum say about the second moment, against brute force and random samples."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from analysis.estimates.buckets import Buckets, m2_bounds, m2_mid

EDGES = np.array([0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, inf])


def histogram(values: np.ndarray, edges: np.ndarray = EDGES) -> Buckets:
    cumulative = [(values <= edge).sum() for edge in edges]
    return Buckets.from_cumulative(edges, cumulative, values.sum())


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.floats(0.01, 30),
    st.floats(0.05, 2.5),
)
def test_the_truth_lies_inside_the_bounds(seed: int, n: int, median: float, sigma: float) -> None:
    values = median * np.exp(sigma * np.random.default_rng(seed).standard_normal(n))
    b = histogram(values)
    assert b.problem() is None
    low, high = m2_bounds(b)
    truth = float(values @ values)
    assert low <= truth * (1 + 1e-9)
    assert high >= truth * (1 - 1e-9)
    assert low <= m2_mid(b) <= high


@pytest.mark.parametrize("seed", range(20))
def test_least_is_the_optimum(seed: int) -> None:
    """A general solver, given the same buckets and sum, finds no smaller sum of squares and reaches ours."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 8, 7)
    b = histogram(values, np.array([1.0, 2.0, 4.0, 8.0, inf]))
    lower, upper = (np.repeat(e, b.counts.astype(int)) for e in (b.lower, b.upper))
    found = optimize.minimize(
        lambda x: x @ x,
        np.clip(np.full(7, values.mean()), lower, upper),
        jac=lambda x: 2 * x,
        bounds=list(zip(lower, upper, strict=True)),
        constraints={"type": "eq", "fun": lambda x: x.sum() - values.sum(), "jac": np.ones_like},
        options={"ftol": 1e-12},
    )
    assert found.success
    assert m2_bounds(b)[0] == pytest.approx(found.fun, rel=1e-6)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(lambda c: sum(c) > 0), st.integers(0, 9))
def test_largest_is_reached(counts: list[int], raised: int) -> None:
    """Values at lower edges, the highest few of them raised to their upper edges: no other spread has more."""
    edges = np.array([2.0, 4.0, 8.0])
    values, tops = np.repeat([0.0, 2.0, 4.0], counts), np.repeat(edges, counts)
    raised = min(raised, len(values))
    values[len(values) - raised :] = tops[len(values) - raised :]
    b = Buckets(np.append(edges, inf), np.array([*counts, 0.0]), float(values.sum()))
    assert m2_bounds(b)[1] == pytest.approx(float(values @ values))


def test_a_small_case_by_hand() -> None:
    """Counts 3, 2, 1 in (0,1], (1,2], (2,4] with sum 8: slack 4 goes 2 to the top bucket (slope 6), 2 to the middle."""
    b = Buckets(np.array([1.0, 2, 4, inf]), np.array([3.0, 2, 1, 0]), 8.0)
    low, high = m2_bounds(b)
    assert high == pytest.approx(2 * 1 + 1 * 4 + 2 * 6 + 2 * 3)
    assert low == pytest.approx(
        3 * 1 + 2 * 1.5**2 + 4
    )  # level 1.5: the first bucket at its top, the last at its bottom


def test_open_bucket_gives_all_slack_to_one_value() -> None:
    b = Buckets(np.array([1.0, inf]), np.array([2.0, 3.0]), 10.0)
    assert m2_bounds(b)[1] == pytest.approx(2 * 1 + (1 + 7) ** 2)
    assert m2_bounds(b)[0] == pytest.approx(2 * 1.0 + 3 * (8 / 3) ** 2)


def test_tilt_recovers_an_exponential() -> None:
    """The tilted estimate is right for a distribution of its own family: E[X^2] = 2 mean^2."""
    n = 1e6
    edges = np.array([0.5, 1, 2, 4, 8, inf])
    cumulative = n * -np.expm1(-edges / 3.0)
    b = Buckets.from_cumulative(edges, cumulative, n * 3.0)
    assert m2_mid(b) / n == pytest.approx(18.0, rel=1e-6)


def test_uniform_needs_no_tilt() -> None:
    b = Buckets(np.array([1.0, 2.0, inf]), np.array([100.0, 100.0, 0.0]), 200.0)
    assert m2_mid(b) == pytest.approx(200 * 4 / 3, rel=1e-9)


@pytest.mark.parametrize(
    ("edges", "cumulative", "total", "why"),
    [
        ([1, 2, inf], [3, 2, 5], 4.0, "bucket counts decrease"),
        ([1, 2, inf], [3, 4, 5], 1.0, "the sum does not fit the buckets"),
        ([1, 2, inf], [3, 5, 5], 8.0, "the sum does not fit the buckets"),
        ([1, 2], [3, 5], 5.0, "the +Inf bucket is missing"),
        ([1, 1, inf], [3, 3, 5], 9.0, "bucket edges do not increase"),
        ([1, 2, inf], [3, np.nan, 5], 9.0, "bucket counts are missing or the edges changed"),
        ([1, 2, inf], [3, 5], 9.0, "bucket counts are missing or the edges changed"),
        ([1, 2, inf], [3, 4, 5], np.nan, "the sum is missing or negative"),
        ([], [], 0.0, "no buckets"),
    ],
)
def test_contradictions_are_named(edges: list[float], cumulative: list[float], total: float, why: str) -> None:
    assert Buckets.from_cumulative(edges, cumulative, total).problem() == why


def test_difference_of_two_pages() -> None:
    early = Buckets.from_cumulative([1, 2, inf], [1, 2, 2], 2.5)
    late = Buckets.from_cumulative([1, 2, inf], [4, 6, 7], 12.5)
    assert (late - early).counts.tolist() == [3, 1, 1]
    assert (late - early).problem() is None
    assert (early - late).problem() == "bucket counts decrease"
    other = Buckets.from_cumulative([1, 3, inf], [4, 6, 7], 12.5)
    assert (other - early).problem() == "bucket counts are missing or the edges changed"
