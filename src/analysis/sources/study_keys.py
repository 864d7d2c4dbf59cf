"""What the keys of study.toml must be (docs/formats/study.md): a value of another kind is told, never guessed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.sources.json_text import MAX_DEPTH, finite


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be, in words that follow "is not", and whether it is."""

    words: str
    fits: Callable[[Any], bool]


def _number(value: Any, least: float, most: float = float("inf")) -> bool:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and finite([value]) is not None
    return usable and least <= value <= most


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


TEXT = Kind("a text", lambda value: isinstance(value, str) and bool(value.strip()))
TEXTS = Kind("a list of texts", _texts)
ADDRESSES = Kind("a list of addresses (texts)", lambda value: isinstance(value, str) or _texts(value))
TABLE = Kind("a table", lambda value: isinstance(value, dict))
TABLES = Kind("a list of tables", lambda value: isinstance(value, list) and all(isinstance(v, dict) for v in value))
SWITCH = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a number", lambda value: _number(value, float("-inf")))
FROM_ZERO = Kind("a number from 0", lambda value: _number(value, 0))
POSITIVE = Kind("a number above 0", lambda value: _number(value, 0) and value > 0)
BELOW_ONE = Kind("a share between 0 and 1", lambda value: _number(value, 0, 1) and 0 < value < 1)
SHARE = Kind("a share above 0 and at most 1", lambda value: _number(value, 0, 1) and value > 0)

_COMPARISON = {"base": TEXT, "arms": TEXTS, "all_pairs": SWITCH, "whole_systems": SWITCH}
_CLASS_TARGETS = {"ttft_s": POSITIVE, "inter_token_s": POSITIVE, "completion_s": POSITIVE,
                  "valid_records_per_hour": POSITIVE, "goodput_share": SHARE}  # fmt: skip
_LIMITS = ("memory_used_bytes", "swap_used_bytes", "queue_s", "temperature_celsius", "power_w", "kv_cache_usage")
_FIGURE = {"key": TEXT, "why": TEXT, "value": NUMBER, "low": NUMBER, "high": NUMBER,
           "values": TEXTS, "intervals": TEXTS, "wording": TEXTS, "readings": TEXTS}  # fmt: skip
KEYS: Mapping[str, Kind] = {
    "question": TEXT, "transcribed": TEXT, "reconstruction": TEXT, "margin": BELOW_ONE,
    "arms": TABLE, "arms.*": TABLE, "arms.*.note": TEXT,
    "prometheus": ADDRESSES, "comparison": TABLE, **{f"comparison.{key}": kind for key, kind in _COMPARISON.items()},
    "classes": TABLE, "classes.*": TABLE, "classes.*.files": TEXTS,
    "objective": TABLE, "objective.margin": BELOW_ONE,
    **{f"objective.{key}": TEXT for key in ("what", "sacrifice", "stop", "valid_record")},
    "objective.classes": TABLE, "objective.classes.*": TABLE,
    **{f"objective.classes.*.{key}": kind for key, kind in _CLASS_TARGETS.items()},
    "objective.limits": TABLE, **{f"objective.limits.{key}": FROM_ZERO for key in _LIMITS},
    "energy": TABLE, "energy.meter_error": BELOW_ONE,
    "hardware": TABLE, "hardware.cpus": POSITIVE, "hardware.memory_bandwidth_bytes_per_s": POSITIVE,
    "model.weights_bytes": POSITIVE, "model.parameters": POSITIVE, "model.dtype": TEXT,
    "figure": TABLES, **{f"figure[].{key}": kind for key, kind in _FIGURE.items()},
}  # fmt: skip
"""By path; `*` is any name, `[]` any place in a list of tables. What is not here is kept and means nothing."""

_NAMED = ("arms.", "classes.", "objective.classes.")
"""Below these, a key is a name that somebody chose."""


def misfits(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Path, what is wrong ("is not a text"), and value of everything that is not what its key must be."""
    for path, generic, value in _nodes(values):
        kind = KEYS.get(generic)
        if kind is not None and not kind.fits(value):
            yield path, f"is not {kind.words}", value
        elif kind is None and generic.startswith("comparison."):  # a misspelt one would change what is compared
            yield path, "is not known", value


def _nodes(
    table: Mapping[str, Any], path: str = "", generic: str = "", depth: int = 0
) -> Iterator[tuple[str, str, Any]]:
    """Path, path as KEYS has it, and value of everything in a table; tables and lists of tables are entered."""
    for key, value in table.items():
        here, its = f"{path}{key}", f"{generic}{'*' if generic in _NAMED else key}"
        yield here, its, value
        inner = {".": value} if isinstance(value, dict) else {}
        if isinstance(value, list):
            inner = {f"[{index}].": entry for index, entry in enumerate(value) if isinstance(entry, dict)}
        for place, entry in inner.items() if depth < MAX_DEPTH else ():
            yield from _nodes(entry, here + place, its + ("." if place == "." else "[]."), depth + 1)
