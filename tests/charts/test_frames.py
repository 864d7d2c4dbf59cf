"""Frames are made safe to draw."""

from decimal import Decimal

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from analysis.charts.frames import BREAK, LABEL, MARKS, headed, ordered, shorten, thinned, tidy


def test_decimals_become_floats_and_what_is_not_finite_becomes_null() -> None:
    rows = tidy(pl.DataFrame({"a": [Decimal("1.5")], "b": [float("inf")], "c": [float("nan")], "n": [3]}))
    assert rows.row(0) == (1.5, None, None, 3)


def test_order_is_by_group_then_known_word_then_number() -> None:
    rows = pl.DataFrame({"g": ["y", "x", "x", "x"], "b": ["b1", "b10", "b9", "served"]})
    assert ordered(rows, "b", "g") == ["served", "b9", "b10", "b1"]


def test_a_long_label_is_cut_in_its_middle() -> None:
    rows = pl.DataFrame({"a": ["kv-cache-memory-bytes-4g", "pinned"]})
    assert shorten(rows, "a")["a"].to_list() == ["kv-cache-" + BREAK + "memory-bytes-4g", "pinned"]
    assert shorten(rows, "a", 1)["a"].to_list() == ["kv-cach…ytes-4g", "pinned"]


def test_a_label_of_three_lines_is_cut_to_two() -> None:
    names = ["2x RTX 4090, patched driver, P2P off", "2x RTX 4090, patched driver, P2P on"]
    short = shorten(pl.DataFrame({"a": names}), "a")["a"].to_list()
    assert short == [f"2x RTX 4090,{BREAK}…river, P2P off", f"2x RTX 4090, p…{BREAK}driver, P2P on"]


def test_a_heading_is_broken_and_not_cut() -> None:
    rows = headed(pl.DataFrame({"group": ["length 238,400; RTX 5090, 31.4 GiB, profiled, 0.93 of memory"]}))
    assert rows["group"][0] == f"length 238,400; RTX 5090, 31.4 GiB,{BREAK}profiled, 0.93 of memory"


def test_a_label_is_redacted_before_it_is_cut() -> None:
    rows = pl.DataFrame({"a": ["metrics/10.0.0.1", "metrics/10.0.0.2"]})
    assert shorten(rows, "a")["a"].to_list() == [f"metrics/{BREAK}[ip f504]", f"metrics/{BREAK}[ip cb5f]"]


@given(st.lists(st.text(alphabet="abc-", min_size=1, max_size=30), min_size=1, max_size=8, unique=True))
def test_cut_labels_stay_different(names: list[str]) -> None:
    short = shorten(pl.DataFrame({"a": names}), "a")["a"].to_list()
    assert len(set(short)) == len(names)
    assert all(s == n for s, n in zip(short, names, strict=True) if len(n) <= LABEL)


def test_of_very_many_rows_one_in_so_many_of_each_group_is_kept_and_that_is_said() -> None:
    rows = pl.DataFrame({"run": ["a"] * 4000 + ["b"] * 500, "x": [float(-i) for i in range(4500)]})
    kept, note = thinned(rows, "run", "x")
    assert kept.group_by("run", maintain_order=True).len().rows() == [("a", 1334), ("b", 167)]
    assert kept["x"].to_list()[:2] == [-3999.0, -3996.0]
    assert note == "; one point in 3 is drawn, the CSV has all"
    few, nothing = thinned(rows.head(MARKS), "run", "x")
    assert few.equals(rows.head(MARKS)) and nothing == ""
