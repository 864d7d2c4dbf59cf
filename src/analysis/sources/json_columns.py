"""Many JSON objects of one shape, checked a key at a time: what `Fields` says of each of them, as columns.

Columns without anything odd are checked whole. Where one has something odd, each object goes through `Fields`, in turn.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from analysis.sources.json_text import MAX_COUNT, MAX_INTEGER, Fields, as_words, keep_unparsed
from analysis.sources.reading import Reading

Check = Callable[[Fields, str], Any]
"""A method of `Fields`: number, numbers, duration, durations, count, text or words."""
Checks = Mapping[str, Check]
"""What is to be found under each key. A key "a.b" is b of the object a."""
_AT_ONCE = 500
"""Objects that are looked through together, so that what lies in them is still in the processor's cache."""
_LISTS = pa.list_(pa.float64())


def of_arrays(arrays: Mapping[str, list[Any]], checks: Checks) -> pl.DataFrame | None:
    """A column for each check, of parallel arrays; all null where there is no array. None when a value is odd."""
    size = len(next(iter(arrays.values()), ()))
    try:
        return _frame(
            {key: _WHOLE[check](arrays[key]) if key in arrays else pa.nulls(size, _KINDS[check])
             for key, check in checks.items()}
        )  # fmt: skip
    except (ValueError, TypeError, OverflowError, RecursionError):  # also what Arrow and the encoder raise
        return None


def of_list(
    values: list[Any], checks: Checks, what: str, reading: Reading, one: Callable[[Fields], list[Any]]
) -> pl.DataFrame:
    """A column for each check, of the objects in a list, and `ordinal`, their places from 1.

    Where any is odd, `one` says what is known of each, in the order of the checks; `what` and the place name it.
    """
    frame = _of_objects(values, checks)
    if frame is not None:
        return frame.with_columns(ordinal=pl.int_range(1, pl.len() + 1))
    places, rows = [], []
    for place, value in enumerate(values, start=1):
        if isinstance(value, dict):
            places.append(place)
            rows.append(one(Fields(value, f"{what} {place}", 1, reading)))
        else:
            keep_unparsed(reading, 1, f"{what} {place}: not an object", value)
    return of_rows(rows, checks).with_columns(ordinal=pl.Series(places, dtype=pl.Int64))


def of_rows(rows: Iterable[list[Any]], checks: Checks) -> pl.DataFrame:
    """A column for each check, of rows of values that have passed them."""
    columns = list(zip(*rows, strict=True)) or [()] * len(checks)
    kinds = [_KINDS[check] for check in checks.values()]
    return _frame({key: pa.array(column, kind) for key, column, kind in zip(checks, columns, kinds, strict=True)})


def row_of(fields: Fields, checks: Checks) -> list[Any]:
    """What the checks say of one object."""
    return [check(fields, key) for key, check in checks.items()]


def _of_objects(objects: list[Any], checks: Checks) -> pl.DataFrame | None:
    """As `of_arrays`, of objects."""
    columns: dict[str, list[Any]] = {path: [] for path in checks}
    try:
        for start in range(0, len(objects), _AT_ONCE):
            known = {"": objects[start : start + _AT_ONCE]}
            _require(set(map(type, known[""])) <= {dict})
            for path, column in columns.items():
                column += _under(path, known)
    except _OddError:
        return None
    return of_arrays(columns, checks)


def _under(path: str, known: dict[str, list[Any]]) -> list[Any]:
    """What each object has under a path; `known` are the objects inside them, by path."""
    outer, _, key = path.rpartition(".")
    if outer not in known:
        found = _under(outer, known)
        _require_kinds(found, dict)
        known[outer] = [each or {} for each in found]
    return [each.get(key) for each in known[outer]]


class _OddError(ValueError):
    """A value that only `Fields` may judge."""


def _frame(columns: dict[str, pa.Array]) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.table(columns)))


def _require(sound: bool | np.bool) -> None:
    if not sound:
        raise _OddError


def _require_kinds(values: Iterable[Any], *kinds: type) -> None:
    _require(set(map(type, values)) <= {*kinds, NoneType})  # bool is an int to everybody else


def _numbers(values: list[Any], least: float = -MAX_INTEGER) -> pa.Array:
    _require_kinds(values, float, int)
    numbers = pa.array(values, pa.float64())
    known = numbers.drop_null().to_numpy()
    _require(((known >= least) & (known < MAX_INTEGER)).all())  # nor is any NaN
    return numbers


def _counts(values: list[Any]) -> pa.Array:
    _require_kinds(values, int)
    counts = pa.array(values, pa.int64())
    known = counts.drop_null().to_numpy()
    _require(((known >= 0) & (known <= MAX_COUNT)).all())
    return counts


def _lists(values: list[Any], least: float = -np.inf) -> pa.Array:
    _require_kinds(values, list)
    _require(set(map(type, chain.from_iterable(filter(None, values)))) <= {float, int})
    lists = pa.array(values, _LISTS)
    known = lists.values.to_numpy()
    _require((np.isfinite(known) & (known >= least)).all())
    return lists


def _texts(values: list[Any]) -> pa.Array:
    _require_kinds(values, str)
    _require("\x00" not in "".join(filter(None, values)))
    return pa.array(values, pa.string())


def _words(values: list[Any]) -> pa.Array:
    return _texts([value or None if type(value) in (str, NoneType) else as_words(value) for value in values])


_WHOLE: dict[Check, Callable[[list[Any]], pa.Array]] = {
    Fields.number: _numbers, Fields.duration: lambda values: _numbers(values, 0.0), Fields.count: _counts,
    Fields.numbers: _lists, Fields.durations: lambda values: _lists(values, 0.0),
    Fields.text: _texts, Fields.words: _words,
}  # fmt: skip
_KINDS: dict[Check, pa.DataType] = {
    Fields.number: pa.float64(), Fields.duration: pa.float64(), Fields.count: pa.int64(),
    Fields.numbers: _LISTS, Fields.durations: _LISTS, Fields.text: pa.string(), Fields.words: pa.string(),
}  # fmt: skip
