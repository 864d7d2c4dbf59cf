"""Where a long answer is divided: what stands out, what is read next to it, and what can wait."""

import re

LONG, TOO_LONG = 140, 170
"""Characters from which a first sentence ends to stand out at its first semicolon, and then at its first colon."""
LEAST = 30
"""Fewest characters that say something by themselves."""
_END = re.compile(r"(?<=[.!?]) (?=[A-Z0-9“])")


def divided(said: str) -> tuple[str, str, str]:
    """The headline, what follows it to the end of the second sentence, and the other sentences: together all of it.

    The headline is the first sentence, or of a long one its first part without the mark it ends in; no word of it is
    changed.
    """
    first, *others = _END.split(said)
    head = first
    for longest, mark in ((LONG, ";"), (TOO_LONG, ":")):
        if len(head) > longest:
            head = head[: _outside(head, mark)]
    then = " ".join([first[len(head) :].strip(), *others[:1]]).strip()
    return head.rstrip(";:"), then, " ".join(others[1:])


def _outside(text: str, mark: str) -> int:
    """Where a text goes on after the first such mark that is outside of brackets; its end where there is none."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth <= 0 and at >= LEAST and text[at : at + 2] == f"{mark} ":
            return at + 1
    return len(text)
