"""The sentences of the first page in the order in which a reader needs them, and as text for the terminal.

First what the data contradict in themselves, since it decides what may be believed; then what is sure and can be acted
on; what is sure; what cannot be told; and last what only says what the data are. Within a kind: the order of the pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.findings.assumed import SAID
from analysis.report import asked
from analysis.report.labels import label

SHOWN = 7
"""Most sentences that are not folded away."""
NUMBERS = 2
"""Most numbers printed below a sentence on the terminal."""
WIDTH = 100
TOO_LITTLE = "covers too little"
"""In a warning: the interval holds the truth less often than it says."""
CONTRADICTION, TO_DO, SURE, CANNOT_TELL, SUPPORTING = range(5)
LEVERS, DECISION = "25-levers", "80-decision"
BESIDE = 2
"""Most sentences beside the first one that a decision is drafted from."""

Json = dict[str, Any]


def ordered(rows: Sequence[Json], by_key: Mapping[str, Json], key: Callable[[Json], str]) -> list[Json]:
    """The takeaways, most important first; `rows` come in the order of the pages, `by_key` are rows of estimates."""
    return sorted(
        rows, key=lambda row: rank(row, [by_key[k] for k in map(key, row.get("estimates", ())) if k in by_key])
    )


def rank(row: Json, estimates: Iterable[Json]) -> int:
    """Which kind of sentence it is, by what it says of itself and by the numbers under it."""
    if row.get("supporting"):
        return SUPPORTING
    if row.get("contradiction"):
        return CONTRADICTION
    if not any(map(_is_sure, estimates)):
        return CANNOT_TELL
    return TO_DO if row.get("next_step") else SURE


def first(pages: Sequence[str], ranks: Sequence[int]) -> int | None:
    """The place of what a reader can act on first, by the takeaways' pages and ranks; None where there is nothing.

    What is sure and says what to change, else what is sure and says what to do.
    """
    to_do = [place for place, its in enumerate(ranks) if its == TO_DO]
    return next((place for place in to_do if pages[place] == LEVERS), next(iter(to_do), None))


def bearing(results: Mapping[str, Any], key: Callable[[Json], str]) -> tuple[list[str], list[str]]:
    """What bears on a decision: the sentence that comes first, and the sure ones next to it; and the pages of others.

    The record of a decision is none of its reasons.
    """
    by_key = {key(row): row for row in results["estimates"]}
    rows = [row for row in results["takeaways"] if not row.get("supporting") and row["page"] != DECISION]
    ranks = [rank(row, [by_key[k] for k in map(key, row.get("estimates", ())) if k in by_key]) for row in rows]
    place = first([row["page"] for row in rows], ranks)
    beside = [at for at, its in enumerate(ranks) if its <= SURE and at != place]
    chosen = [*([] if place is None else [place]), *beside[:BESIDE]]
    others = (row["page"] for at, row in enumerate(rows) if at not in chosen)
    return [str(rows[at]["sentence"]) for at in chosen], list(dict.fromkeys(others))


def heading(page: str) -> str:
    """What stands above the takeaway that comes first, by its page."""
    return "What to change first" if page == LEVERS else "What to do first"


def _is_sure(estimate: Json) -> bool:
    """Whether a number says something of itself: counted, bounded, or with an interval that has an end."""
    ends = estimate.get("low") is not None or estimate.get("high") is not None
    return ends or (estimate.get("kind") != "estimate" and estimate.get("value") is not None)


def text(results: Mapping[str, Any], estimates: Mapping[str, Estimate], key: Callable[[Json], str]) -> str:
    """What was asked, what to do first and the next sentences of results.json, as plain text.

    The sentences are numbered as on the first page; with each its numbers, what to do and what would change it.
    """
    rows, found = results["takeaways"], []
    for row in rows:
        found.append([estimates[k] for k in map(key, row.get("estimates", ())) if k in estimates])
    ranks = [rank(row, (e.to_json() for e in its)) for row, its in zip(rows, found, strict=True)]
    place = first([row["page"] for row in rows], ranks)
    lines = [line for said in asked.lines(asked.asked(results)) for line in _wrapped(said, "")]
    blocks = [lines] if lines else []
    blocks += [] if place is None else [_told(f"{heading(rows[place]['page'])}: ", rows[place], found[place])]
    others = [(row, its) for at, (row, its) in enumerate(zip(rows, found, strict=True)) if at != place]
    for number, (row, its) in enumerate(others[:SHOWN], start=1):
        blocks.append(_told(f"{number}. ", row, its))
    if len(others) > SHOWN:
        blocks.append([f"and {len(others) - SHOWN} more in the report"])
    return "\n\n".join(map("\n".join, blocks))


def _told(begin: str, row: Json, found: list[Estimate]) -> list[str]:
    lines, before = _wrapped(row["sentence"], begin), ""
    for e in found[:NUMBERS]:
        shown = show(e)
        is_repeated = e.value is None and e.low is None and shown == before
        lines += _wrapped(f"{label(e)}: {'the same' if is_repeated else shown}", "   ", "     ")
        before = shown
    for caution in dict.fromkeys(caution for e in found[:NUMBERS] for caution in _cautions(e)):
        lines += _wrapped(f"Caution: {caution}", "   ")
    for what, said in (("What to do: ", row.get("next_step")), ("What would change this: ", row.get("unless"))):
        lines += _wrapped(what + said, "   ") if said else []
    return lines


def _cautions(estimate: Estimate) -> list[str]:
    """What must be known before a number is believed: it rests on assumptions, or its interval covers too little.

    Only the first words of the warning: the page has the rest.
    """
    found = [w for w in estimate.warnings if w.startswith(tuple(SAID.values())) or TOO_LITTLE in w]
    return [warning.partition(" (")[0] for warning in found]


def _wrapped(said: str, first: str, then: str = "   ") -> list[str]:
    """Lines of a width that a terminal shows; nothing in them moves its cursor."""
    plain = "".join(ch if ch.isprintable() else " " for ch in said)
    return wrap(plain, WIDTH, initial_indent=first, subsequent_indent=then)
