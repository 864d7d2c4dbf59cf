"""JSON from outside: bounded in size and depth, every number checked, and what does not fit said so."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import MsgspecError, Raw
from msgspec.json import Decoder

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.reading import Reading, Unparsed, cut

MAX_DOCUMENT_CHARS = 256 << 20
"""Longest JSON document that is parsed: its numbers take up to eight times this in memory."""
MAX_CONTAINERS = 4_000_000
"""Most lists and objects in one document: each takes some 70 bytes, however short it is written."""
MAX_RECORD_CHARS = 16 << 20
"""Longest line that holds one request or sample; what is longer is cut and does not parse."""
MAX_UNPARSED = 1000
"""Most unparsed lines kept of one file; the reading's message says that there are more."""
MAX_INTEGER = 2**63 - 1
MAX_COUNT = MAX_INTEGER // 2
MAX_WORDS = 4000
MAX_DEPTH = 16
"""Objects nested more deeply hold nothing that a result file states."""


class NotJsonError(ValueError):
    """A text that is not one JSON value: the message says why, without naming the file."""


def parse(text: str | Raw) -> Any:
    """One JSON value (NaN and Infinity allowed, as several tools write them). Raises NotJsonError.

    An integer stays one, however large: `Fields` refuses those beyond 64 bits.
    """
    text = text if isinstance(text, str) else str(text, "utf-8", "replace")
    if len(text) > MAX_CONTAINERS and text.count("[") + text.count("{") > MAX_CONTAINERS:
        raise NotJsonError(f"more than {MAX_CONTAINERS:,} lists and objects; split the file")
    try:
        return _decode(text)
    except (MsgspecError, RecursionError, UnicodeEncodeError):
        return _carefully(text)


_decode = Decoder().decode


def _carefully(text: str) -> Any:
    """The slow way, for what msgspec refuses: NaN, infinities, lone surrogates; and for the words of the error."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise NotJsonError("nested too deeply to be a result file") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None


def _integer(digits: str) -> int:
    """As the number is, but for more digits than Python takes."""
    return int(digits if len(digits) <= sys.int_info.default_max_str_digits else digits[:400])


def objects(
    file: SourceFile, reading: Reading, longest: int = MAX_RECORD_CHARS
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a JSON Lines file with their lines; other lines become unparsed. One line at a time."""
    for number, line in file.lines(longest=longest):
        if (value := object_of(number, line, reading, longest)) is not None:
            yield number, value


def object_of(number: int, line: str, reading: Reading, longest: int = MAX_RECORD_CHARS) -> dict[str, Any] | None:
    """The JSON object in a line; None where there is none, which becomes unparsed if it is anything."""
    if not line.strip("\ufeff\x00 \t\r"):
        return None
    what = "not an object"
    if len(line) >= longest:
        what = f"longer than {longest:,} characters"
    else:
        try:
            value = parse(line)
        except NotJsonError as error:
            what = str(error)
        else:
            if isinstance(value, dict):
                return value
    keep_unparsed(reading, number, f"JSON line: {what}", line)
    return None


def document(file: SourceFile) -> Any:
    """The one JSON value of a file. Raises UnreadableFileError with the place of the fault."""
    try:
        return parse(file.text(MAX_DOCUMENT_CHARS))
    except NotJsonError as error:
        raise UnreadableFileError(f"{file.path}: {error}; write the result file again, or in parts") from None


def keep_unparsed(reading: Reading, line: int, what: str, text: object) -> None:
    """Add an unparsed line, cut to a quote; after MAX_UNPARSED only the message counts on."""
    if len(reading.unparsed) < MAX_UNPARSED:
        reading.unparsed.append(Unparsed(line, clean(what), clean(cut(_shown(text)))))
    else:
        reading.message = (
            f"more than {MAX_UNPARSED} places do not parse; the first are listed: check what wrote the file"
        )


def _shown(value: object) -> str:
    try:
        return value if isinstance(value, str) else repr(value)
    except RecursionError:
        return "nested too deeply to be shown"


def clean(text: str) -> str:
    """Text that a database takes: no lone surrogates, no NUL."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


@dataclass(slots=True)  # frozen would double the time that one takes to make, and each record has some
class Fields:
    """One JSON object under checks: a value of the wrong type is null and goes to `reading.unparsed`.

    `what` names the object in the unparsed list ("vllm bench result"), `line` is where it starts.
    """

    values: Mapping[str, Any]
    what: str
    line: int
    reading: Reading

    def number(self, key: str, scale: float = 1.0) -> float | None:
        """A finite number times `scale`; NaN and infinities are null, as the tools write them for "none"."""
        value: Any = self.values.get(key)
        kind = type(value)
        if (kind is float or kind is int) and -MAX_INTEGER <= value <= MAX_INTEGER:
            return value * scale
        if value is None or (kind is float and not math.isfinite(value)):
            return None
        return self._refuse(key, value)

    def duration(self, key: str, scale: float = 1.0) -> float | None:
        """A number from 0 times `scale`."""
        number = self.number(key, scale)
        return number if number is None or number >= 0 else self._refuse(f"{key}, a negative time", number)

    def durations(self, key: str) -> list[float] | None:
        """A list of numbers from 0, all of them or null."""
        numbers = self.numbers(key)
        if numbers and min(numbers) < 0:
            return self._refuse(f"{key}, a negative time", numbers[:20])
        return numbers

    def count(self, key: str) -> int | None:
        """A whole number from 0; 3.0 is taken for 3."""
        value = self.values.get(key)
        if type(value) is int and 0 <= value <= MAX_COUNT:
            return value
        number = self.number(key)
        if number is None:
            return None
        return int(number) if 0 <= number <= MAX_COUNT and number == int(number) else self._refuse(key, number)

    def http_status(self, key: str) -> int | None:
        """A status code of HTTP."""
        status = self.count(key)
        return status if status is None or 100 <= status <= 599 else self._refuse(key, status)

    def text(self, key: str) -> str | None:
        """A string."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value and clean(value)
        return self._refuse(key, value)

    def words(self, key: str) -> str | None:
        """A string, or the JSON of anything else: for errors, which tools write as text, code or object."""
        value = self.values.get(key)
        try:
            return as_words(value)
        except RecursionError:
            return self._refuse(key, value)

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.values.get(key)
        return value if value is None or isinstance(value, bool) else self._refuse(key, value)

    def array(self, key: str) -> list[Any] | None:
        """A list."""
        value = self.values.get(key)
        return value if value is None or isinstance(value, list) else self._refuse(key, value)

    def numbers(self, key: str, scale: float = 1.0) -> list[float] | None:
        """A list of finite numbers, all of them or null."""
        values = self.array(key)
        if values is None:
            return None
        numbers = finite(values, scale)
        return numbers if numbers is not None else self._refuse(key, values[:20])

    def inner(self, key: str) -> "Fields":
        """The object under a key; an empty one when it is absent, null or something else."""
        value = self.values.get(key)
        if isinstance(value, dict):
            return Fields(value, self.what, self.line, self.reading)
        if value is not None:
            self._refuse(key, value)
        return Fields({}, self.what, self.line, self.reading)

    def _refuse(self, key: str, value: Any) -> Any:
        keep_unparsed(self.reading, self.line, f"{self.what}: {key}", value)


_encode = json.JSONEncoder(default=str).encode


def as_words(value: Any) -> str | None:
    """See `Fields.words`. Raises RecursionError."""
    if value is None or value == "":
        return None
    if type(value) is int:
        return str(value)
    return clean(value) if isinstance(value, str) else clean(_encode(value))[:MAX_WORDS]


def finite(values: list[Any], scale: float = 1.0) -> list[float] | None:
    """The values as finite floats times `scale`, or None when one of them is anything else."""
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        return None
    try:
        numbers = list(map(float, values)) if int in kinds else values
    except OverflowError:
        return None
    numbers = numbers if scale == 1.0 else [value * scale for value in numbers]
    return numbers if math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers)) else None


def summary(values: Mapping[str, Any]) -> str:
    """A tool's own figures as strict JSON: lists left out, infinities as "inf", NaN as null, long texts cut."""
    return clean(json.dumps({str(k): _plain(v) for k, v in values.items() if not isinstance(v, list)}))


def _plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return None
        return {str(k): _plain(v, depth + 1) for k, v in value.items() if not isinstance(v, list)}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, int | float) and abs(value) > MAX_INTEGER:
        return None
    return cut(value) if isinstance(value, str) else value
