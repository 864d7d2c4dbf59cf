"""Columns say what `Fields` says of each object: the same values, and the same words about what does not fit."""

import json
import random
from itertools import accumulate
from typing import Any

import polars as pl
import pytest
from msgspec import Raw

from analysis.sources.json_columns import Arrays, Objects, row_of
from analysis.sources.json_plain import Checks
from analysis.sources.json_text import MAX_COUNT, MAX_INTEGER, Fields
from analysis.sources.reading import Reading
from analysis.sources.request_columns import is_rising, running_sums

CHECKS: Checks = {
    "number": Fields.number, "numbers": Fields.numbers, "duration": Fields.duration, "durations": Fields.durations,
    "count": Fields.count, "text": Fields.text, "words": Fields.words,
}  # fmt: skip
OBJECTS = Objects(CHECKS)
SOUND: dict[str, list[Any]] = {
    "number": [0.5, -3, 0, None, 2**53, 1e18],
    "numbers": [[], [0.5, -1, 2], None, [1e300]],
    "duration": [0.0, 0.25, 7, None, -0.0],
    "durations": [[0.0, 1], [], None, [2.5]],
    "count": [0, 3, None, MAX_COUNT],
    "text": ["", "a", "é\n", None],
    "words": ["", "a", None, 500, {"code": [1, "x"]}, True, 1.5],
}
ODD: list[Any] = [
    None, True, -1, -0.5, 3.0, 3.5, "x", "a\0b", "\ud800", [], {}, [True], [None], ["a"], [-1], [[]], float("nan"),
    float("inf"), [float("inf")], 2**53 + 1, MAX_INTEGER, MAX_INTEGER + 1, -MAX_INTEGER - 1, 2.0**63, MAX_COUNT + 1,
    2**70, 10**400, [10**400], [1e308, 1e308],
]  # fmt: skip


def one(fields: Fields) -> list[Any]:
    return row_of(fields, CHECKS)


def carefully(entries: list[dict[str, Any]]) -> tuple[list[list[Any]], list[Any]]:
    reading = Reading("requests", "tool")
    rows = [one(Fields(entry, f"entry {n}", 1, reading)) for n, entry in enumerate(entries, start=1)]
    # Fields leaves whole numbers in a list as they are
    return [[repr([*map(float, v)] if isinstance(v, list) else v) for v in row] for row in rows], reading.unparsed


def columns(entries: list[Any]) -> tuple[list[list[Any]], list[Any]]:
    reading = Reading("requests", "tool")
    frame = OBJECTS.of_list(entries, "entry", reading, one)
    return shown(frame), reading.unparsed


def of_text(entries: list[Any]) -> tuple[list[list[Any]], list[Any]] | None:
    """None where the text does not say it all by itself."""
    reading = Reading("requests", "tool")
    frame = OBJECTS.of_text(json.dumps(entries).encode(), "entry", reading)
    return None if frame is None else (shown(frame), reading.unparsed)


def shown(frame: pl.DataFrame) -> list[list[str]]:
    return [[repr(value) for value in row[:-1]] for row in frame.rows()]


@pytest.mark.parametrize("seed", range(20))
def test_random_objects_are_told_as_one_by_one(seed: int) -> None:
    dice = random.Random(seed)
    entries = [
        {key: dice.choice(values) for key, values in SOUND.items()} for _ in range(dice.choice([0, 1, 30, 1200]))
    ]
    for _ in range(dice.choice([0, 0, 1, 3]) if entries else 0):
        dice.choice(entries)[dice.choice(list(CHECKS))] = dice.choice(ODD)
    for _ in range(dice.choice([0, 2]) if entries else 0):
        dice.choice(entries).pop(dice.choice(list(CHECKS)), None)
    assert columns(entries) == carefully(entries)
    assert of_text(entries) in (None, carefully(entries))


@pytest.mark.parametrize("key", CHECKS)
@pytest.mark.parametrize("value", ODD, ids=lambda value: f"{value!r:.12}")
def test_each_odd_value_is_told_as_one_by_one(key: str, value: Any) -> None:
    entries = [{key: SOUND[key][0]}, {key: value}]
    assert columns(entries) == carefully(entries)
    assert of_text(entries) in (None, carefully(entries))


@pytest.mark.parametrize("key", CHECKS)
def test_sound_text_is_read_at_once(key: str) -> None:
    entries = [{key: value} for value in SOUND[key]] + [{}]
    assert of_text(entries) == carefully(entries)
    arrays, texts = Arrays({key: CHECKS[key]}), {key: Raw(json.dumps(SOUND[key]).encode())}
    assert [repr(value) for value in arrays.frame(arrays.of_texts(texts))[key].to_list()] == [
        row[list(CHECKS).index(key)] for row in carefully(entries[:-1])[0]
    ]


def test_sound_columns_are_checked_whole() -> None:
    frame = Arrays(CHECKS).of_lists({key: values[:4] for key, values in SOUND.items()})
    assert frame is not None
    assert frame.row(1) == (-3.0, [0.5, -1.0, 2.0], 0.25, [], 3, "a", "a")


def test_what_lies_inside_is_found_and_what_is_no_object_is_named() -> None:
    checks: Checks = {"a.b.n": Fields.count, "n": Fields.count}
    sound = [{"a": {"b": {"n": 1}}, "n": 2}, {"a": None}, {"a": {"b": None}}, {}]
    reading = Reading("requests", "tool")
    told = Objects(checks).of_list(sound, "entry", reading, lambda fields: [])
    assert told.rows() == [(1, 2, 1), (None, None, 2), (None, None, 3), (None, None, 4)]
    assert reading.unparsed == []

    at_once = Reading("requests", "tool")
    assert told.equals(Objects(checks).of_text(json.dumps(sound).encode(), "entry", at_once))

    told = Objects(checks).of_list(
        ["x", *sound[:1], {"a": [], "n": -1}], "entry", reading,
        lambda fields: [fields.inner("a").inner("b").count("n"), fields.count("n")],
    )  # fmt: skip
    assert told.rows() == [(1, 2, 2), (None, None, 3)]
    told = Objects(checks).of_text(json.dumps(["x", *sound[:1], "y"]).encode(), "entry", at_once)
    assert told.rows() == [(1, 2, 2)]
    assert [u.what for u in at_once.unparsed] == ["entry 1: not an object", "entry 3: not an object"]
    assert [u.what for u in reading.unparsed] == ["entry 1: not an object", "entry 3: a", "entry 3: n"]


def test_running_sums_are_those_of_each_list_alone() -> None:
    dice = random.Random(5)
    steps = [
        dice.choice([None, [], [dice.random() / 3 for _ in range(dice.choice([1, 2, 2, 7, 300]))]]) for _ in range(400)
    ]
    first = [dice.choice([None, dice.random() * 1e9]) for _ in steps]
    sums = running_sums(pl.Series(first, dtype=pl.Float64), pl.Series(steps, dtype=pl.List(pl.Float64)))
    assert sums.to_list() == [
        list(accumulate(more, initial=start)) if start is not None and more is not None else []
        for start, more in zip(first, steps, strict=True)
    ]


@pytest.mark.parametrize(
    ("lists", "rises"),
    [([], True), ([None, []], True), ([[2.0, 2.0, 3.0], [1.0], None, [0.5]], True), ([[1.0], [1.0, 0.5]], False)],
)
def test_lists_rise_each_for_itself(lists: list[list[float] | None], rises: bool) -> None:
    assert is_rising(pl.Series(lists, dtype=pl.List(pl.Float64))) is rises
