"""One line of a metric page: the text formats' grammar, and nothing about pages."""

import json
import re
from functools import lru_cache
from math import isinf
from typing import NamedTuple

from analysis import engines

# Possessive throughout: a hostile line is refused in one pass.
_LABELS = r'\{(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+\}'
_LABELS_ALONE = re.compile(_LABELS)
_SAMPLE = re.compile(
    rf"[ \t]*+([a-zA-Z_:][a-zA-Z0-9_:]*+[ \t]*+(?:{_LABELS})?|{_LABELS})"  # series
    r"[ \t]*+([^\s{}#]++)(?:[ \t]++([^\s#]++))?"  # value, time stamp
    r"[ \t]*+(?:#[ \t]*+\{.*)?[\r\n \t]*+$"  # exemplar
)
_LABEL = re.compile(
    r'[ \t]*+(?:([^\s=,"{}]++)|"((?:[^"\\]++|\\.)*+)")[ \t]*+(?:=[ \t]*+"((?:[^"\\]++|\\.)*+)")?[ \t]*+(,|$)'
)
_ESCAPE = re.compile(r'\\([\\n"])')
_NAN = re.compile(r"[+-]?nan(\(\w*\))?", re.I)
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.I | re.A)
DECLARED = re.compile(r"#[ \t]*(TYPE|HELP|UNIT)[ \t]+(\S+)")
SCRAPED_AT = re.compile(r"#[ \t]*scraped_at\b(.*)", re.I)
MAX_NUMBER_CHARS = 400
"""The longest number a double can need in plain decimals; a longer one is not a measurement."""
MAX_CACHED_CHARS = 2_000
"""A longer text is read each time anew."""
_LATEST_S = 1e11
"""A time stamp above this is in milliseconds (as seconds it would be the year 5138, as milliseconds 1973)."""


class Series(NamedTuple):
    """A series: the sample's name after prefix repair, its labels as canonical JSON, and the scrape instance."""

    name: str
    labels: str
    instance: str


class Sample(NamedTuple):
    """One sample; `at_s` is its own time stamp in unix seconds where it has one."""

    series: Series
    value: float
    at_s: float | None


def parse_sample(line: str) -> Sample | None:
    """The sample on a line of text format 0.0.4, OpenMetrics or `promtool tsdb dump`; None if it is not one."""
    match = _SAMPLE.match(line)
    if not match:
        return None
    raw, number, stamp = match.groups()
    value = parse_number(number)
    series = parse_series(raw)
    if value is None or series is None:
        return None
    if stamp is None:
        return Sample(series, value, None)
    at = parse_number(stamp)
    return None if at is None or at != at or isinf(at) else Sample(series, value, seconds(at))


def seconds(stamp: float) -> float:
    """Unix seconds from a sample's time stamp, which is in milliseconds (0.0.4) or seconds (OpenMetrics)."""
    return stamp / 1000 if abs(stamp) > _LATEST_S else stamp


def parse_number(text: str) -> float | None:
    """A sample's value; None when it is no number, or one that a double cannot hold."""
    if len(text) > MAX_NUMBER_CHARS:
        return None
    if _NAN.fullmatch(text):
        return float("nan")
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return None if isinf(value) and "n" not in text.lower() else value


def parse_series(raw: str) -> Series | None:
    """Name and labels; the name may stand before the braces, in them in quotes, or as the label `__name__`."""
    # Scrapes repeat the same few hundred series; a cache of long ones would be a way to fill the memory.
    return _known_series(raw) if len(raw) <= MAX_CACHED_CHARS else _parse_series(raw)


def _parse_series(raw: str) -> Series | None:
    name, brace, inside = raw.partition("{")
    name = name.strip()
    labels = _parse_labels(inside[:-1]) if brace else {}
    if labels is None:
        return None
    if not name:
        name = labels.pop("__name__", "")
    return make_series(name, labels) if name else None


_known_series = lru_cache(maxsize=1 << 15)(_parse_series)


def make_series(name: str, labels: dict[str, str]) -> Series:
    """A series under its engine's own name, with canonical labels."""
    text = json.dumps(labels, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    instance = "/".join(labels[key] for key in ("instance", "pod") if labels.get(key))
    return Series(engines.canonical_name(_valid(name)), _valid(text), _valid(instance))


def _valid(text: str) -> str:
    """Text without lone surrogates, which a JSON escape can bring in and no store can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def parse_labels(text: str) -> dict[str, str] | None:
    """The labels between two braces; None when the text is not that."""
    return _parse_labels(text[1:-1]) if _LABELS_ALONE.fullmatch(text) else None


def _parse_labels(inside: str) -> dict[str, str] | None:
    labels: dict[str, str] = {}
    at = 0
    while inside[at:].strip():
        match = _LABEL.match(inside, at)
        if not match:
            return None
        bare, quoted, value, _ = match.groups()
        if value is None:
            if quoted is None:
                return None
            key, value = "__name__", quoted
        else:
            key = bare if bare is not None else _unescape(quoted)
        if key in labels:
            return None
        labels[key] = _unescape(value)
        at = match.end()
    return labels


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text)
