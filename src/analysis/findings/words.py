"""Words that the sentences of findings share."""

from collections.abc import Sequence

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
