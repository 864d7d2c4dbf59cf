"""Configuration as engines print it: a Python dict, ServerArgs(...), `key=value, ...`, Rust's Args { ... }."""

import re
from collections.abc import Iterator

MAX_SETTINGS_CHARS = 1 << 16
_TOKEN = re.compile(r"""[\[\](){}<>,]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|'|"|[^\[\](){}<>,'"]+""")
_ITEM = re.compile(
    r"""\s*(?:'(?P<quoted>[\w.\-]{1,100})'|"(?P<double>[\w.\-]{1,100})"|(?P<name>[\w.\-]{1,100}))\s*[:=]\s*(?P<value>.*)""",
    re.S,
)
_SOME = re.compile(r"Some\((.*)\)", re.S)
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?", re.ASCII)
OPEN, CLOSE = "([{<", ")]}>"


def settings(text: str, complete: bool = True) -> Iterator[tuple[str, str, float | None]]:
    """Name, value as text, and value as number, of each setting from the start of `text` to its closing bracket.

    Nested values stay text. When the line is not complete its last setting is left out: it may be cut.
    """
    items, closed = _items(text[:MAX_SETTINGS_CHARS])
    if not closed and not complete:
        items = items[:-1]
    for item in items:
        match = _ITEM.match(item)
        if not match:
            continue
        value = match["value"].strip()
        some = _SOME.fullmatch(value)
        value = some[1].strip(" ,") if some else value
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        number = float(value) if _NUMBER.fullmatch(value) else None
        yield match["quoted"] or match["double"] or match["name"], value, number


def _items(text: str) -> tuple[list[str], bool]:
    """The parts between the commas of the outermost level, and whether the outermost bracket was closed."""
    text = text.lstrip()
    text = text[1:] if text[:1] == "{" else text
    items: list[str] = []
    current: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token == "," and depth == 0:
            items.append("".join(current))
            current = []
            continue
        if token in CLOSE and depth == 0:
            return [*items, "".join(current)], True
        depth += (token in OPEN) - (token in CLOSE)
        current.append(token)
    return [*items, "".join(current)], False
