"""What a study asks and of which arms, in a line each: said at the top of a report, before any number.

Names, values and the question come from files that somebody else wrote: each is redacted, one line, and of a length.
"""

import json
from typing import Any

import duckdb

from analysis.findings import arm_knobs, arms
from analysis.findings.arms import Arms
from analysis.findings.assumed import Assumptions, assumptions
from analysis.findings.words import one_line

QUESTION, NAME, VALUE, NOTE = 200, 60, 40, 120
"""Most characters of the question, of an arm's name, of a value of a knob, and of what study.toml says of an arm."""
ARMS, KNOBS = 8, 4
"""Most arms beside the base, and most knobs of one, that are told."""
NOTHING = "nothing that is known"


def question(connection: duckdb.DuckDBPyConnection) -> str:
    """What study.toml says is asked, in one line; empty where it does not say."""
    return one_line(_said(connection, "question"), QUESTION)


def lines(connection: duckdb.DuckDBPyConnection, of: Arms) -> dict[str, Any]:
    """The base with its boots, and each other arm with what differs from the base; the nearest arms first.

    `more` is how many are not told. Empty where there is no arm. Where no knob differs, study.toml's note stands in.
    """
    base = arms.base(of)
    if base is None:
        return {}
    assumed = assumptions(connection)
    others = [(arm, _changes(of, base, arm, assumed)) for arm in of.names if arm != base]
    others.sort(key=lambda pair: (not pair[1], len(pair[1])))
    told = [{**_named(of, arm), "differs": _differs(connection, arm, changes)} for arm, changes in others[:ARMS]]
    return {"base": _named(of, base), "others": told, "more": len(others[ARMS:])}


def _named(of: Arms, arm: str) -> dict[str, Any]:
    return {"arm": one_line(arm, NAME), "boots": len(of.of_arm(arm))}


def _changes(of: Arms, base: str, arm: str, assumed: Assumptions) -> list[str]:
    """Each knob in which an arm differs from the base: its value there, and here; marked where it is assumed."""
    pair = (of.of_arm(base), of.of_arm(arm))
    was, now = (arm_knobs.by_arm(of.knobs, boots) for boots in pair)
    return [
        f"{one_line(knob, NAME)} "
        f"{_value(was, knob)}{_mark(assumed, base, knob)} → {_value(now, knob)}{_mark(assumed, arm, knob)}"
        for knob in arm_knobs.differing(of.knobs, *pair)
    ]


def _value(values: dict[str, str], knob: str) -> str:
    """What an arm has for a knob; several values where its boots differ."""
    return one_line(values.get(knob, arm_knobs.NOT_SET).replace(" | ", " or "), VALUE)


def _mark(assumed: Assumptions, arm: str, knob: str) -> str:
    """Said of a value that the table of knobs marks as assumed."""
    return " (assumed)" if assumed.of_reading("knobs", arm, {"knob": knob}) else ""


def _differs(connection: duckdb.DuckDBPyConnection, arm: str, changes: list[str]) -> str:
    if not changes:
        return one_line(_said(connection, f"arms.{arm}.note"), NOTE) or NOTHING
    more = len(changes) - KNOBS
    return "; ".join(changes[:KNOBS]) + (f"; and {more} more" if more > 0 else "")


def _said(connection: duckdb.DuckDBPyConnection, key: str) -> str:
    """A text of study.toml; what is none is told on the first page as not understood."""
    query = "select value from study_facts where key = $key order by file, line limit 1"
    found = connection.sql(query, params={"key": key}).fetchall()
    text = json.loads(found[0][0]) if found else ""
    return text if isinstance(text, str) else ""
