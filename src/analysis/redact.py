"""Take out of a text from a log what is not the reader's business: secrets, people, machines, places and prompts.

The rules of redact_rules.py are applied in order, again until nothing changes: taking one thing out can lay the next
one bare. What can be somebody's name for a boot or a folder leaves a pseudonym, so that two of them stay two; a secret
does not. Figures stay: versions, token counts, times, settings such as max_tokens.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from analysis.redact_rules import RULES, Replace

SWITCH, OFF = "ANALYSIS_REDACT", "off"
"""The variable that turns redaction off, for notebooks' kernels too; only --no-redact sets it."""
_ROUNDS = 20
_WHOLE_WORDS = re.compile(r".*[^\w./+=@:~%-]", re.S)
_SECRET, _LIKE_A_SECRET = "[secret]", "Xk3v9Zq7"
_REMEMBERED = 20_000
"""Texts whose result is kept: the same names and lines stand on many pages."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text fit to be shown, and how often each kind of thing was taken out of it."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)


def is_off() -> bool:
    """Whether the author asked for texts as they are (`--no-redact`); then every page says so."""
    return os.environ.get(SWITCH) == OFF


def redact(text: str) -> Redacted:
    """Take out secrets, prompts and outputs, e-mail and network addresses, host and user names, paths, identifiers.

    What is taken out leaves its kind in brackets, such as [secret]; a path keeps its last part. What may be a name (an
    address, host, user, path, identifier) leaves a pseudonym with it, as in [ip 3f2a]: the same for the same value,
    everywhere and always. It tells two apart; it does not hide a value that somebody can guess. Idempotent. Where
    redaction is off the text stays as it is.
    """
    return Redacted(text) if is_off() else hidden(text)


def cut(text: str, most: int) -> str:
    """A text of at most this many characters, cut after a whole word, where it has several.

    Half a key or address would not be known as one when a page leaves such things out.
    """
    if len(text) <= most:
        return text
    whole = _WHOLE_WORDS.match(text[: most - 1])
    return f"{whole[0]}…" if whole else text[:most]


@lru_cache(_REMEMBERED)
def hidden(text: str) -> Redacted:
    """The same where redaction is off too: to tell whether two names are one."""
    kinds: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        before, text = text, _pass(text, kinds)
        if text == before:
            break
    return Redacted(text, {kind: n for kind, n in sorted(kinds.items()) if n})


def _pass(text: str, kinds: Counter[str]) -> str:
    for kind, pattern, replace in RULES:

        def counted(match: re.Match[str], kind: str = kind, replace: Replace = replace) -> str:
            new = replace(match)
            kinds[kind] += new != match[0]
            return new

        text = pattern.sub(counted, text)
    return text


def names_secret(name: str) -> bool:
    """Whether a text that stands under this name is a secret, where the two are apart: cells, fields of JSON."""
    return "secret" in hidden(f"{name}={_LIKE_A_SECRET}").kinds


def pair(name: str, value: str) -> Redacted:
    """The value redacted as it would be in `name="value"`, for where the two stand apart."""
    return Redacted(value) if is_off() else _hidden_pair(name, value)


@lru_cache(_REMEMBERED)
def _hidden_pair(name: str, value: str) -> Redacted:
    alone, before = hidden(value), f"{name}="
    both = hidden(before + json.dumps(value, ensure_ascii=False))
    if both.kinds.get("secret", 0) > alone.kinds.get("secret", 0):
        return Redacted(_SECRET, {"secret": 1})
    if both.kinds == alone.kinds or not both.text.startswith(before):
        return alone
    return Redacted(both.text.removeprefix(before).strip('"'), both.kinds)


def named(name: str, value: str) -> Redacted:
    """The value of a field: nothing of it where its name says that it is a secret, else redacted by itself."""
    found = pair(name, value)
    return found if found.text == _SECRET else redact(value)


def redacted(value: Any) -> Any:
    """The same value with every text in it redacted: texts, and what lists and mappings hold (their keys stay).

    A text under the name of a secret goes whole.
    """
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, Mapping):
        return {key: named(key, part).text if isinstance(part, str) else redacted(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(part) for part in value]
    return value
