"""The names of keys whose values are secrets, in one place: in a text, and where name and value stand apart."""

import re

_NO_SECRET_TOKENS = (
    "max", "num", "per", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "image", "audio", "video", "stop", "new",
    "last", "first", "next", "prev", "special", "prompt", "output", "input", "generated", "draft", "accepted", "bonus",
    "begin", "end", "start", "sampled", "cached", "context", "think", "tool", "each", "total", "placeholder", "decode",
    "prefill", "second", "third", "inter", "completion", "reasoning", "fallback", "mean", "median",
)  # fmt: skip
"""What stands before `_token` where it is a token of a text."""
_NO_SECRET_KEYS = (
    "sort", "cache", "primary", "foreign", "partition", "block", "hash", "group", "map", "dict", "lookup", "index",
    "json", "label", "metric", "row", "join", "store", "prefix", "config", "attn", "attention", "kv", "layer", "state",
    "order", "routing", "public", "object", "param", "query", "field", "column", "data", "file", "item", "weight",
    "idempotency", "is", "has", "num", "by", "no", "per", "any", "error", "compile",
)  # fmt: skip
"""What stands before `_key` where it finds or orders things."""


def _ends(end: str, words: tuple[str, ...]) -> str:
    """`_key` or `-key`, not after one of these words; the cheap part first."""
    return rf"[_-]{end}" + "".join(rf"(?<!(?<![a-z0-9]){word}.{end})" for word in words)


ASSIGN = r"(?:[:=]|%3[ad])"
_HOLDERS = (
    r"identity|registry|hf|hub|face|auth|access|api|refresh|session|bearer|github|gitlab|slack|bot|app|id|wandb|user"
    r"|aws|security|client|service|deploy|bootstrap|csrf|xsrf"
)
_LOCKS = "access|account|storage|shared|signing|encryption|master|subscription|license|ssh"
SECRET_KEY = (
    r"[\w.-]*(?:api[_-]?keys?|secret(?:[_-]?(?:access)?[_-]?key)?(?:_base)?|passw(?:or)?d|passphrase|passcode"
    r"|private[_-]?key(?:[_-]?id)?"
    rf"|(?:{_LOCKS})[_-]?key(?:[_-]?id)?"
    r"|(?<![a-z])(?:jwt|x-auth(?:-\w{1,40})?)"
    rf"|credentials?|signature|(?:{_HOLDERS})[_-]?token"
    r"|(?-i:(?<!MAX)(?<!NUM)(?<!PER)(?<!EOS)(?<!BOS)(?<!PAD)(?<!UNK)_TOKEN))"
)
"""Ends of names that say secret whatever stands there."""
PLURAL_KEY = (
    rf"(?<![a-z])(?:secrets|passw(?:or)?ds|passphrases|(?:{_LOCKS}|private)[_-]?keys|(?:{_HOLDERS})[_-]?tokens)"
)
"""Several of them, unless the value is a figure: tokens are counted too."""
LIKELY_KEY = rf"(?<=\w)(?:{_ends('token', _NO_SECRET_TOKENS)}|{_ends('key', _NO_SECRET_KEYS)})"
"""Names that say so unless the value is a figure, a flag or the like."""
SHORT_KEY = r"(?:(?<![a-z0-9])(?:pass|pwd|pw|otp)|(?-i:(?<![A-Za-z])[A-Z]*PASS))"
"""The same, where they are followed by = or are quoted."""
FIGURE = r"""\\*["']?[-+]?[\d.,]+ ?(?:[a-zµ%]{1,3}(?:/[a-z]{1,6})?)?(?![\w.+/-])"""
WORDS_ALONE = r"(?-i:(?<![A-Za-z0-9])[A-Z0-9]+(?:_[A-Z0-9]+)*_(?:TOKEN|KEY|PASSWORD|PASSWD|SECRET|PASSPHRASE))"
"""A variable's name with its value after a space."""
COOKIE = r"(?<![a-z])(?:set-)?cookies?"
ANY_KEY = re.compile(r"(?:^|[_.-])(?:key|token|credentials?)$|auth", re.I)
"""Names of what may be a key of any kind: as a setting it says nothing of an engine."""
