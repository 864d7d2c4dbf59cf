"""What a report was made from, in words: the rows of a small table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_WORDS = {
    "place": "Folder (digest of its path)",
    "files": "Files",
    "engines": "Engines",
    "defects": "Known defects found",
    "data_sha256": "Data (SHA-256)",
    "code_sha256": "Code that read them (SHA-256)",
    "versions": "Versions",
}  # docs/results.md has the same keys
_DIGEST = re.compile(r"[0-9a-f]{40,}")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Fact:
    """A row: `text` as shown, and `whole` where that is short for something."""

    label: str
    text: str
    whole: str = ""


def facts(generated_from: Mapping[str, Any]) -> tuple[Fact, ...]:
    """One row a key, in the order given; keys without words of ours are shown as they are."""
    return tuple(_fact(_WORDS.get(key, key.replace("_", " ")), value) for key, value in generated_from.items())


def _fact(label: str, value: Any) -> Fact:
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return Fact(label, f"{value[:_SHOWN]}…", value)
    if isinstance(value, Sequence) and value and all(isinstance(part, Mapping) for part in value):
        return Fact(label, f"{len(value):,}, each with its place in results.json")
    return Fact(label, _text(value))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ((_text(part), key) if isinstance(part, int) else (key, _text(part)) for key, part in value.items())
        return ", ".join(f"{first} {second}" for first, second in pairs) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_text(part) for part in value) or "none"
    if value is None:
        return "not known"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
