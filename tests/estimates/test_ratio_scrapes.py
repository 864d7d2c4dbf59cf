"""The share from a series of scrapes: blocks, resets, refusals, drift."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.ratio_scrapes import Windows, blocks_of, correlation_time_s, share_from_scrapes


def windows(k: int = 240, seed: int = 0, step_s: float = 15.0) -> Windows:
    rng = np.random.default_rng(seed)
    n = rng.poisson(1.7, k)
    part, rest = (np.array([rng.exponential(mean, m).sum() for m in n]) for mean in (1.0, 6.0))
    start = np.arange(k) * step_s
    return Windows.of(start, start + step_s, part, part + rest, n)


def test_value_is_the_ratio_of_sums_and_batch_means_by_hand() -> None:
    w = windows()
    got = share_from_scrapes(w)
    share = w.part.sum() / w.whole.sum()
    assert got.value == pytest.approx(share)
    e = (w.part - share * w.whole).reshape(5, 48).sum(axis=1)
    se = np.sqrt(5 * e.var(ddof=1)) / w.whole.sum()
    half5 = 2.7764451 * se / (share * (1 - share))
    logit = np.log(got.high / (1 - got.high)) - np.log(share / (1 - share))
    assert logit >= half5 - 1e-9
    assert got.method.startswith("widest of independent, 5 and 10 batch means")


def test_the_wider_independent_interval_is_kept() -> None:
    w = windows()
    own = share_from_scrapes(w)
    wide = replace(own, low=0.01, high=0.9, method="bucket spread", n=401, n_of="requests")
    kept = share_from_scrapes(w, wide)
    assert kept.n_of == "requests"
    odds = [np.log(p / (1 - p)) for p in (wide.low, wide.high, kept.low, kept.value, kept.high)]
    assert odds[4] - odds[2] == pytest.approx(odds[1] - odds[0])
    assert odds[4] - odds[3] == pytest.approx(odds[3] - odds[2])
    narrow = replace(own, low=own.value - 1e-9, high=own.value + 1e-9)
    assert share_from_scrapes(w, narrow).n_of == "blocks"


def test_blocks_are_equal_in_time_and_never_span_a_reset() -> None:
    w = windows(100)
    assert np.bincount(blocks_of(w, 5)).tolist() == [20] * 5
    segment = np.repeat([0, 1, 2], [60, 30, 10])
    split = Windows.of(w.start_s, w.end_s, w.part, w.whole, w.requests, segment)
    blocks = blocks_of(split, 10)
    assert len(np.unique(blocks)) == 10
    assert all(len(np.unique(split.segment[blocks == b])) == 1 for b in range(10))
    many = Windows.of(w.start_s, w.end_s, w.part, w.whole, w.requests, np.arange(100) // 10)
    assert len(np.unique(blocks_of(many, 5))) == 10


def test_drift_is_seen_and_said() -> None:
    rng = np.random.default_rng(3)
    k, phi = 240, np.exp(-15 / 600)
    mix = np.empty(k)
    mix[0] = 0
    for i in range(1, k):
        mix[i] = phi * mix[i - 1] + np.sqrt(1 - phi**2) * rng.standard_normal()
    part = 20 * (1 + 0.5 * np.tanh(mix))
    start = np.arange(k) * 15.0
    w = Windows.of(start, start + 15, part, np.full(k, 100.0), np.full(k, 10))
    tau = correlation_time_s(w, w.part.sum() / w.whole.sum())
    assert tau is not None
    assert 200 < tau < 1500
    assert share_from_scrapes(w).warnings[0].startswith("traffic drifted over about")
    assert share_from_scrapes(windows()).warnings == ()


def test_refusals() -> None:
    w = windows(9)
    assert share_from_scrapes(w).reason == "fewer than 10 windows with requests"
    start = np.arange(40) * 15.0
    busy = np.where(np.arange(40) < 11, 1.0, 0.0)
    crowded = Windows.of(start, start + 15, busy * start / 100, busy * 9, busy)
    assert share_from_scrapes(crowded).reason == "fewer than 5 blocks"
    assert share_from_scrapes(Windows.of([], [], [], [], [])).reason == "no windows"
    fell = Windows.of([0, 15], [15, 30], [1, -1], [2, 2], [1, 1])
    assert fell.problem() is not None
    assert "a counter fell" in fell.problem()
    idle = Windows.of(start, start + 15, start * 0, start * 0, start * 0)
    assert share_from_scrapes(idle).reason == "no requests in any window"
    even = Windows.of(start, start + 15, start * 0 + 1, start * 0 + 2, start * 0 + 1)
    assert share_from_scrapes(even).low is None
    assert share_from_scrapes(Windows.of([0, 1], [1], [1], [1], [1])).low is None
    whole = Windows.of(start, start + 15, start * 0 + 2, start * 0 + 2, start * 0 + 1)
    assert share_from_scrapes(whole).reason == "the share is exactly 1"


def test_neighbours_are_joined_within_a_life_and_nothing_is_lost() -> None:
    start = np.arange(7) * 10.0
    w = Windows.of(start, start + 10, [1, 2, 3, 4, 5, 6, 7], [9] * 7, [1] * 7, [0, 0, 0, 1, 1, 1, 1])
    j = w.joined(4)
    assert (j.start_s.tolist(), j.end_s.tolist()) == ([0, 20, 30, 50], [20, 30, 50, 70])
    assert (j.part.tolist(), j.whole.tolist(), j.requests.tolist()) == ([3, 3, 9, 13], [18, 9, 18, 18], [2, 1, 2, 2])
    assert j.segment.tolist() == [0, 0, 1, 1]
    assert w.joined(7) is w


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 20))
def test_joined_windows_keep_sums_and_lives(lives: list[int], most: int) -> None:
    start = np.arange(len(lives)) * 10.0
    w = Windows.of(start, start + 10, np.ones(len(lives)), np.full(len(lives), 2.0), np.ones(len(lives)), lives)
    j = w.joined(most)
    assert len(j.start_s) <= most + len(set(lives))
    for life in set(w.segment.tolist()):
        mine, joined = w.segment == life, j.segment == life
        assert w.part[mine].sum() == j.part[joined].sum()
        assert (w.start_s[mine].min(), w.end_s[mine].max()) == (j.start_s[joined].min(), j.end_s[joined].max())
