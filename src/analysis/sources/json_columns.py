"""Many JSON objects of one shape as columns: what `Fields` says of each of them.

Text is read into columns at once, under types that hold nothing odd; what no check asks for is passed over. Where one
value is odd, each object goes through `Fields`, in turn.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from msgspec import Raw, Struct, convert, defstruct
from msgspec.json import Decoder
from msgspec.structs import astuple

from analysis.sources.files import SourceFile
from analysis.sources.json_plain import ODD, TYPES, Check, Checks, plain_document
from analysis.sources.json_text import MAX_WORDS, Fields, as_words, document, keep_unparsed
from analysis.sources.reading import Reading

_Columns = dict[str, tuple[Any, ...]]
_AT_ONCE = 500
"""Objects that are looked through together, so that what lies in them is still in the processor's cache."""
_NUMBERS = pa.list_(pa.float64())


class Objects:
    """Lists of objects under the same checks."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._shapes: dict[str, type[Struct]] = {}
        self._shape = self._shape_of("")
        self._decode = Decoder(list[self._shape | str]).decode  # type: ignore[name-defined]  # a bare text tells itself

    def of_file(
        self, file: SourceFile, what: str, reading: Reading, one: Callable[[Fields], list[Any]]
    ) -> pl.DataFrame | Any:
        """As `of_list`, of the list in a file; of any other JSON value the value. Raises UnreadableFileError."""
        frame = self.of_text(plain_document(file), what, reading)
        if frame is not None:
            return frame
        value = document(file)
        return self.of_list(value, what, reading, one) if isinstance(value, list) else value

    def of_text(self, text: bytes, what: str, reading: Reading) -> pl.DataFrame | None:
        """A column for each check, of the objects of a list, and `ordinal`, their places from 1. None if any is odd.

        What is no object is told by `what` and its place.
        """
        try:
            values = self._decode(text)
            frame = self._frame(values)
        except ODD:
            return None
        if frame.height < len(values):
            for place, value in enumerate(values, start=1):
                if isinstance(value, str):
                    keep_unparsed(reading, 1, f"{what} {place}: not an object", value)
        return frame

    def of_list(
        self, values: list[Any], what: str, reading: Reading, one: Callable[[Fields], list[Any]]
    ) -> pl.DataFrame:
        """As `of_text`; where any is odd, `one` says what is known of each, in the order of the checks."""
        places = [place for place, value in enumerate(values, start=1) if isinstance(value, dict)]
        try:  # a text stands for all that is no object
            frame = self._frame([convert(value, self._shape) if isinstance(value, dict) else "" for value in values])
        except ODD:
            frame = None
        rows = []
        for place, value in enumerate(values, start=1):
            if not isinstance(value, dict):
                keep_unparsed(reading, 1, f"{what} {place}: not an object", value)
            elif frame is None:
                rows.append(one(Fields(value, f"{what} {place}", 1, reading)))
        if frame is not None:
            return frame
        return of_rows(rows, self._checks).with_columns(ordinal=pl.Series(places, dtype=pl.Int64))

    def _frame(self, values: list[Any]) -> pl.DataFrame:
        places: Sequence[int] = range(1, len(values) + 1)
        if str in set(map(type, values)):
            places = [place for place in places if type(values[place - 1]) is not str]
        objects = [values[place - 1] for place in places]
        columns: dict[str, list[Any]] = {path: [] for path in self._checks}
        for start in range(0, len(objects), _AT_ONCE):
            known = {"": self._fields("", objects[start : start + _AT_ONCE])}
            for path, column in columns.items():
                column += self._under(path, known)
        arrays = {path: _array(columns[path], check) for path, check in self._checks.items()}
        return _frame(arrays | {"ordinal": pa.array(places, pa.int64())})

    def _under(self, path: str, known: dict[str, _Columns]) -> Iterable[Any]:
        """What each object has under a path; `known` are the fields of the objects inside them, by path."""
        outer, _, key = path.rpartition(".")
        if outer not in known:
            known[outer] = self._fields(outer, self._under(outer, known))
        return known[outer][key]

    def _fields(self, outer: str, objects: Iterable[Struct | None]) -> _Columns:
        shape = self._shapes[outer]
        empty = shape()
        rows = map(astuple, [each or empty for each in objects])
        return dict(zip(shape.__struct_fields__, zip(*rows, strict=True), strict=True))

    def _shape_of(self, outer: str) -> type[Struct]:
        """The type of the objects under a path: null, where it is not there, is each of its keys."""
        kinds: dict[str, Any] = {}
        for path, check in self._checks.items():
            key, _, inner = path.removeprefix(outer).partition(".")
            if path.startswith(outer) and key not in kinds:
                kinds[key] = self._shape_of(f"{outer}{key}.") if inner else TYPES[check]
        shape = defstruct("Shape", [(key, kind | None, None) for key, kind in kinds.items()], gc=False)
        self._shapes[outer.rstrip(".")] = shape
        return shape


class Arrays:
    """Parallel arrays under checks, by their keys."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._lists: dict[str, Any] = {key: list[TYPES[check] | None] for key, check in checks.items()}  # type: ignore
        self._decoders = {key: Decoder(kind | None).decode for key, kind in self._lists.items()}

    def of_texts(self, texts: Mapping[str, Raw]) -> dict[str, pa.Array]:
        """The arrays that are there and not empty. Raises one of `ODD`."""
        arrays = {
            key: _array(decode(texts[key]) or [], self._checks[key])
            for key, decode in self._decoders.items()
            if key in texts
        }
        return {key: array for key, array in arrays.items() if len(array)}

    def of_lists(self, arrays: Mapping[str, list[Any]]) -> pl.DataFrame | None:
        """As `frame`, of arrays that were not checked. None when a value is odd."""
        try:
            checked = {key: convert(array, self._lists[key]) for key, array in arrays.items()}
            return self.frame({key: _array(array, self._checks[key]) for key, array in checked.items()})
        except ODD:
            return None

    def frame(self, arrays: Mapping[str, pa.Array]) -> pl.DataFrame:
        """A column for each check; all null where there is no array. Raises one of `ODD`."""
        size = len(next(iter(arrays.values()), ()))
        return _frame({key: arrays.get(key, pa.nulls(size, _KINDS[check])) for key, check in self._checks.items()})


def of_rows(rows: Iterable[list[Any]], checks: Checks) -> pl.DataFrame:
    """A column for each check, of rows of values that have passed them."""
    columns = list(zip(*rows, strict=True)) or [()] * len(checks)
    kinds = [_KINDS[check] for check in checks.values()]
    return _frame({key: pa.array(column, kind) for key, column, kind in zip(checks, columns, kinds, strict=True)})


def row_of(fields: Fields, checks: Checks) -> list[Any]:
    """What the checks say of one object."""
    return [check(fields, key) for key, check in checks.items()]


def _frame(columns: dict[str, pa.Array]) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.table(columns)))


def _array(values: list[Any], check: Check) -> pa.Array:
    """Values of the check's type. Raises one of `ODD`."""
    if check is Fields.words:
        values = [value or None if type(value) in (str, NoneType) else _words(value) for value in values]
    return pa.array(values, _KINDS[check]) if check not in (Fields.text, Fields.words) else _texts(values)


def _texts(values: list[str | None]) -> pa.Array:
    texts = pa.array(values, pa.string())
    written = texts.buffers()[2]
    if written and not np.frombuffer(written, "u1").all():
        raise ValueError  # no database takes NUL
    return texts


def _words(value: Any) -> str | None:
    words = as_words(value)
    if words and (len(words) >= MAX_WORDS or _LONG.search(words)):
        raise ValueError  # a number beyond 64 bits, perhaps: here it is whole
    return words


_LONG = re.compile(r"\d{19}")
_KINDS: dict[Check, pa.DataType] = {
    Fields.number: pa.float64(), Fields.duration: pa.float64(), Fields.count: pa.int64(),
    Fields.numbers: _NUMBERS, Fields.durations: _NUMBERS, Fields.text: pa.string(), Fields.words: pa.string(),
}  # fmt: skip
