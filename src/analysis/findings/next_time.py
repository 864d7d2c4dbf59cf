"""What to record next time, so that what could not be computed can be: from the reasons that figures give."""

import re
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.estimates.estimate import Estimate

TABLE = Path(__file__).with_name("next_time.toml")
REFUSAL, REFUSED = "refusal.", "the log of this boot (refused)"
"""How the ids of figures of a refusal begin, and what is said of what a boot that was refused does not print."""
_WORD = re.compile(r"(?<!{){(\w+)}(?!})")


@dataclass(frozen=True, slots=True)
class Advice:
    """One way of recording: the figures it would answer, why they are missing now, and what to run or to write."""

    name: str
    why: str
    figures: tuple[Estimate, ...]
    reasons: tuple[str, ...]
    commands: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def advice(estimates: Iterable[Estimate], data: str, engines: Iterable[str] = ()) -> list[Advice]:
    """What would answer the figures without a value or without an interval, in the order of the table.

    `data` is the study as a command takes it; `engines` are those of the study with their versions, as "vllm 0.32.0":
    commands are in the words of the first that is known, else of vLLM.
    """
    table, every = _table(), list(estimates)
    refused = {e.qualifiers.get("boot", "") for e in every if e.id.startswith(REFUSAL) or REFUSED in (e.reason or "")}
    by_record: dict[int, list[Estimate]] = {}
    for estimate in every:
        if (place := record_of(estimate, refused)) is not None:
            by_record.setdefault(place, []).append(estimate)
    words = {"data": data, **_words(engines)}
    return [_advice(table["record"][place], tuple(found), words) for place, found in sorted(by_record.items())]


def record_of(estimate: Estimate, refused: Container[str] = ()) -> int | None:
    """The place in the table of what would answer a figure; None where it has an answer, or where nothing would.

    `refused` are boots that never served: no load can be put on them.
    """
    reason = estimate.reason or ""
    lacks = estimate.low is None and estimate.high is None and estimate.kind in ("estimate", "bound")
    if not lacks or any(part in reason for part in _table()["nothing"]["reasons"]):
        return None
    serves = {estimate.unit, "*"} if estimate.qualifiers.get("boot") in refused else set()
    rows = enumerate(_table()["record"])
    places = (i for i, row in rows if any(part in reason for part in row["reasons"]))
    return next((i for i in places if serves.isdisjoint(_table()["record"][i].get("serves", ()))), None)


def _advice(row: Mapping[str, Any], figures: tuple[Estimate, ...], words: Mapping[str, str]) -> Advice:
    reasons = dict.fromkeys((e.reason or "").removeprefix("not computable: ") for e in figures)
    commands = [_filled(c, words) for c in row.get("commands", ()) if set(_WORD.findall(c)) <= set(words)]
    return Advice(row["name"], row["why"], figures, tuple(reasons), tuple(commands), tuple(row.get("lines", ())))


def _filled(command: str, words: Mapping[str, str]) -> str:
    return _WORD.sub(lambda m: words[m[1]], command).replace("{{", "{").replace("}}", "}")


def _words(engines: Iterable[str]) -> dict[str, str]:
    """The engine's own words; without those that came with a later version than the study's."""
    known = _table()["engines"]
    named = [(name, version) for name, _, version in (engine.partition(" ") for engine in engines) if name in known]
    name, version = named[0] if named else ("vllm", "")
    words = dict(known[name])
    since = words.pop("steps_since", None)
    if since and version and _number(version) < _number(since):
        words.pop("steps")
    return words


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
