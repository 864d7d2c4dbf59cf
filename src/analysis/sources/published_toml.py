"""Figures that were published about a study, to be checked against it: published.toml (docs/formats/published.md)."""

import json
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import Fields, clean, keep_unparsed
from analysis.sources.reading import Reading
from analysis.sources.study_keys import NUMBER, TEXT
from analysis.sources.study_toml import toml_of

FORMAT = "published-toml"
NAME = "published.toml"
RELATIONS = ("equals", "at_most", "at_least", "is_bound", "equivalent", "different")
"""What a claim says of its figure; the last two say it of two arms and need no number."""
VERDICTS = ("reproduced", "differs", "not_computable", "not_supported")
_TEXTS = ("id", "text", "printed", "unit", "estimate", "over", "relation", "stands", "note")
_NUMBERS = ("published", "rounding", "excludes")
_KINDS = dict.fromkeys(_TEXTS, TEXT) | dict.fromkeys(_NUMBERS, NUMBER)
KEYS = {*_KINDS, "where", "over_where"}
_OF_ARMS = ("equivalent", "different")


def recognise(head: str, name: str) -> bool:
    """Whether the file is a published.toml, by its name: a broken one is reported, not passed over."""
    return name.rsplit("/", 1)[-1] == NAME


def read(file: SourceFile) -> Reading:
    """One row a claim; a claim that cannot be checked as it stands is unparsed, with what is wrong with it."""
    reading = Reading("config", FORMAT)
    values, lines = toml_of(file, "docs/formats/published.md")
    claims = values.get("claim")
    if not isinstance(claims, list) or not claims:
        raise UnreadableFileError(f"{file.path}: it has no [[claim]]; docs/formats/published.md shows one")
    if unknown := sorted(set(values) - {"claim"}):
        keep_unparsed(reading, lines.get(unknown[0], 1), "published.toml: a key that nothing reads", unknown[0])
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        _claim(claim, index, lines.get(f"claim[{index}]", 1), seen, reading)
    return reading


def _claim(claim: Any, index: int, line: int, seen: set[str], reading: Reading) -> None:
    """One row, or what is wrong with the claim."""
    found = len(reading.unparsed)
    what = f"claim {index + 1}"
    if not isinstance(claim, dict):
        keep_unparsed(reading, line, f"{what}: not a table", claim)
        return
    fields = Fields(claim, what, line, reading)
    for key in sorted(_KINDS.keys() & claim.keys()):
        if not _KINDS[key].fits(claim[key]):
            keep_unparsed(reading, line, f"{what}: {key} is not {_KINDS[key].words}", claim[key])
    if len(reading.unparsed) > found:
        return
    row: dict[str, Any] = {key: fields.text(key) for key in _TEXTS if key != "id"}
    row |= {key: fields.number(key) for key in _NUMBERS}
    places = {"place": _place(fields, "where"), "over_place": _place(fields, "over_where")}
    id = fields.text("id")
    if wrong := _wrong(claim, id, row, seen):
        keep_unparsed(reading, line, f"{what}: {wrong}", repr(claim))
    if len(reading.unparsed) > found or id is None:
        return
    seen.add(id)
    reading.add(
        "published_claims", line=line, ordinal=index + 1, claim=id, **row,
        **{key: json.dumps(place, sort_keys=True) for key, place in places.items()},
    )  # fmt: skip


def _wrong(claim: dict[str, Any], id: str | None, row: dict[str, Any], seen: set[str]) -> str | None:
    """What is wrong with a claim, in words that say what to write; None where nothing is."""
    if unknown := sorted(set(map(str, claim)) - KEYS):
        return f"{clean(unknown[0])!r} is no key of a claim; there are {', '.join(sorted(KEYS))}"
    if missing := [key for key in ("id", "text", "estimate", "relation", "stands") if not claim.get(key)]:
        return f"{missing[0]} is missing"
    if id in seen:
        return f"the id {id} is used twice"
    if row["relation"] not in RELATIONS:
        return f"relation is one of {', '.join(RELATIONS)}"
    if row["stands"] not in VERDICTS:
        return f"stands (the verdict that the author stands by) is one of {', '.join(VERDICTS)}"
    if row["relation"] not in _OF_ARMS and (row["published"] is None or not row["unit"]):
        return f"{row['relation']} needs published (a number, in base units) and unit"
    if row["relation"] == "equals" and (row["rounding"] is None or row["rounding"] < 0):
        return "equals needs rounding: half a unit of the last digit that was printed, or 0 for an exact count"
    if row["relation"] == "equals" and row["published"] and row["rounding"] >= abs(row["published"]):
        return "rounding is as large as the number itself: anything would reproduce it"
    return None


def _place(fields: Fields, key: str) -> dict[str, str]:
    """Qualifiers of an estimate, which are texts: a number would name no figure."""
    value = fields.values.get(key, {})
    if not isinstance(value, dict):
        keep_unparsed(fields.reading, fields.line, f"{fields.what}: {key} is not a table of names", value)
        return {}
    for name, inner in value.items():
        if not TEXT.fits(inner):
            keep_unparsed(fields.reading, fields.line, f"{fields.what}: {key}.{clean(name)} is not {TEXT.words}", inner)
    return {clean(name): clean(inner) for name, inner in value.items() if isinstance(inner, str)}
