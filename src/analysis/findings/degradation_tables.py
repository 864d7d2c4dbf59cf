"""The sentence and the tables of page 65: laid out, nothing computed anew."""

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.findings.degradation import BLIND, OVERLOAD, Look


def sentence(looks: list[Look]) -> str:
    """The answer: what was found, what was looked for and not found, and what could not be looked at."""
    if not looks:
        return (
            "Whether the engine degraded silently cannot be said: there is no boot log, host counter or request trace."
        )
    kinds = list(dict.fromkeys(_kind(look) for look in looks))
    found = [f"{kind} ({_boots(looks, kind, True)})" for kind in kinds if _boots(looks, kind, True)]
    clear = [kind for kind in kinds if not _boots(looks, kind, True) and _boots(looks, kind, False)]
    blind = [kind for kind in kinds if not _boots(looks, kind, True) and not _boots(looks, kind, False)]
    parts = [f"Found: {', '.join(found)}" if found else "Nothing was found"]
    clear = [f"{kind} ({BLIND})" if kind == OVERLOAD else kind for kind in clear]
    parts += [f"looked for, not found: {', '.join(clear)}"] if clear else []
    parts += [f"could not be looked at: {', '.join(blind)}"] if blind else []
    return "; ".join(parts) + "."


def unless(looks: list[Look]) -> str:
    """What would change the answer: what could not be looked at."""
    blind = sum(look.found is None for look in looks)
    lacks = (
        f"what could not be checked is not as it seems: {blind} of {len(looks)} checks, the table says what each lacks"
    )
    return lacks if blind else ""


def _kind(look: Look) -> str:
    return look.what.partition(",")[0]


def _boots(looks: list[Look], kind: str, found: bool) -> str:
    names = list(dict.fromkeys(look.boot for look in looks if _kind(look) == kind and look.found is found))
    if len(names) > 3:
        return f"{len(names)} boots"
    return ", ".join(names)


def found_table(looks: list[Look]) -> pl.DataFrame:
    """One row for each thing found, with its boots: when it began in the first of them, and the line that shows it."""
    rows: dict[tuple[str, str, str], list[Look]] = {}
    for look in looks:
        if look.found:
            rows.setdefault((look.what, look.said, look.means), []).append(look)
    listed = []
    for (what, said, means), its in rows.items():
        first = its[0].evidence[0] if its[0].evidence else None
        place = "" if first is None else first.file + (f", line {first.line}" if first.line else "")
        boots = ", ".join(dict.fromkeys(look.boot for look in its))
        shown = _shown(its[0], said)
        listed.append((what, shown, means, boots, its[0].began, place, (first.quote or "") if first else ""))
    columns = ("what", "found", "it means", "boots", "began", "where", "line")
    return cells.frame(listed, dict.fromkeys(columns, pl.String))


def _shown(look: Look, said: str) -> str | Shown:
    return said if look.estimate is None else Shown(look.estimate, said, "reason" if look.found is None else "figure")


MOST = 6


def headline(counts: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: boots with fallback lines, the first few; the table has all."""
    return [count for count in counts if count.value][:MOST]


def other_table(looks: list[Look], found: bool | None) -> pl.DataFrame:
    """One row for each look that found nothing (`found` False), or could not be made (None): with its boots."""
    rows: dict[tuple[str, str], list[Look]] = {}
    for look in looks:
        if look.found is found:
            rows.setdefault((look.what, look.said), []).append(look)
    column = "looked at" if found is False else "what is missing"
    listed = [
        (what, _shown(its[0], said), ", ".join(dict.fromkeys(look.boot for look in its)))
        for (what, said), its in rows.items()
    ]
    return cells.frame(listed, dict.fromkeys(("what", column, "boots"), pl.String))
