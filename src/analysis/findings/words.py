"""Words that the sentences of findings share."""

from collections.abc import Sequence

from analysis.redact import cut, redact

MOST = 6
"""Most names that a sentence gives one by one."""


def listed(parts: Sequence[str], most: int = MOST) -> str:
    """Names as in "a, b and c"; of more than `most` the first ones, and how many more there are."""
    if len(parts) > most:
        return f"{', '.join(parts[: most - 1])} and {len(parts) - most + 1} more"
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def number_of(n: int, what: str) -> str:
    """A number of things: "1 boot", "2 boots"."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def one_line(text: str, most: int) -> str:
    """A text from a file as one line of at most this many characters: redacted, and nothing in it moves a cursor."""
    plain = "".join(ch if ch.isprintable() else " " for ch in redact(text).text)
    return cut(" ".join(plain.split()), most)
