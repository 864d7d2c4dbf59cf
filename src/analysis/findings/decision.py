"""The decision record, and which of its retest conditions have come true in the data of this study.

A condition names a fact that is measured anew (decision_facts.py), a rule, and what the rule compares with. It ends in
come_true, not_come_true or cannot_tell; one that is not understood is listed, and never taken for false.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite
from typing import Any

import duckdb

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.findings.decision_facts import Fact, Value, shown
from analysis.redact import cut, hidden, redact

FINDING = "80-decision"
RULES = ("not_in", "above", "below", "outside")
MOST = 200
"""Conditions and values that are looked at: a record is written by people."""
OPEN = "write here"
"""What a draft has where only a person can write."""
TEXTS = ("date", "objective", "workload", "reasoning")


@dataclass(frozen=True, slots=True)
class Condition:
    """Retest when `fact` is `rule`: not_in `values`, above `high`, below `low`, or outside both."""

    name: str
    fact: str
    rule: str
    values: tuple[Value, ...] = ()
    low: float | None = None
    high: float | None = None
    why: str = ""
    line: int | None = None

    def said(self) -> str:
        """The rule in words, with what it compares with."""
        if self.rule == "not_in":
            return f"not in {', '.join(map(shown, self.values))}"
        ends = {"above": [self.high], "below": [self.low], "outside": [self.low, self.high]}[self.rule]
        return f"{self.rule} {' to '.join(shown(end) for end in ends if end is not None)}"


@dataclass(frozen=True, slots=True)
class Decision:
    """A record as it was written: its file, its texts, what was chosen, its conditions, and what makes no sense."""

    file: str
    text: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition with its verdict and the sentence that holds the numbers."""

    condition: Condition
    verdict: str
    said: str
    fact: Fact | None


ROWS = """
    select study_facts.file, study_facts.line, substr(key, 10) as key, value from study_facts
    join files on study_facts.file = files.file
    where files.format = 'decision-toml' and starts_with(key, 'decision.') order by study_facts.file, key
"""
BROKEN = """
    select message from files where file = 'decision.toml' and status = 'unreadable'
    union all select message from files where file like '%/decision.toml' and status = 'unreadable' limit 1
"""


def unreadable(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Why the study's decision.toml could not be read, or None."""
    found = connection.sql(BROKEN).fetchall()
    return str(found[0][0]) if found else None


def decision(connection: duckdb.DuckDBPyConnection) -> Decision | None:
    """The record of the study; of several, the first by path. None where there is none that can be read."""
    rows = connection.sql(ROWS).fetchall()
    if not rows:
        return None
    file = rows[0][0]
    values = {key: (_value(value), line) for its, line, key, value in rows if its == file}
    problems = [f"a second record, {name}, was not looked at" for name in sorted({r[0] for r in rows} - {file})]
    text = {key: _text(values[key][0], 4000) for key in TEXTS if key in values and values[key][0] not in (None, "")}
    chosen = {
        key[7:]: _text(v, 400) for key, (v, _) in values.items() if key.startswith("chosen.") and v not in (None, "")
    }
    problems += [f"{key} is not a text" for key in TEXTS if not isinstance(values.get(key, ("", None))[0], str)]
    problems += ["date is not a day as 2026-11-30"] if not _is_day(text.get("date", OPEN)) else []
    problems += [f"{key} is missing" for key in ("date", "objective", "reasoning") if text.get(key, OPEN) == OPEN]
    problems += [] if chosen else ["nothing is chosen yet ([chosen] arm or setting)"]
    conditions: list[Condition] = []
    indices = sorted({int(key[7:].split("]")[0]) for key in values if _is_retest(key)})
    for index in indices[:MOST]:
        made = _condition(
            index, {k.partition("].")[2]: v for k, v in values.items() if k.startswith(f"retest[{index}].")}
        )
        if isinstance(made, Condition):
            conditions.append(made)
        else:
            problems.append(made)
    problems += [] if indices else ["no retest condition ([[retest]]): nothing would ever bring it up again"]
    return Decision(file, text, chosen, tuple(conditions), tuple(problems))


def _is_day(text: str) -> bool:
    """Whether a text is a date, or is still to be written."""
    try:
        return text == OPEN or bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _is_retest(key: str) -> bool:
    head, _, rest = key.partition("].")
    return head.startswith("retest[") and head[7:].isdecimal() and len(head) < 14 and bool(rest)


def _condition(index: int, given: dict[str, tuple[Any, int | None]]) -> Condition | str:
    """The condition, or the sentence why it is none."""
    name = _text(given.get("name", (f"condition {index + 1}", None))[0], 80)
    fact, rule = (given.get(key, (None, None))[0] for key in ("fact", "rule"))
    line = next((at for _, at in given.values() if at is not None), None)
    if not isinstance(fact, str) or rule not in RULES:
        return f"{name}: needs a fact and a rule ({', '.join(RULES)})"
    values = given.get("values", ([], None))[0]
    low, high = (_number(given.get(key, (None, None))[0]) for key in ("low", "high"))
    if rule == "not_in":
        known = (
            isinstance(values, list) and values and all(isinstance(v, str) or _number(v) is not None for v in values)
        )
        if not known:
            return f"{name}: not_in needs values, a list of texts or numbers"
    needed = {"above": (high,), "below": (low,), "outside": (low, high)}.get(rule, ())
    if any(end is None for end in needed):
        ends = {"above": "high", "below": "low", "outside": "low and high"}[rule]
        return f"{name}: {rule} needs {ends}, a number each"
    if rule == "outside" and (low or 0) > (high or 0):
        return f"{name}: low is above high"
    listed = tuple(v if isinstance(v, str) else float(v) for v in values[:MOST]) if rule == "not_in" else ()
    return Condition(name, _text(fact, 80), rule, listed, low, high, _text(given.get("why", ("", None))[0], 400), line)


def check(record: Decision, facts: dict[str, Fact]) -> list[Checked]:
    """Each condition against what this study measured."""
    return [_check(condition, facts.get(condition.fact)) for condition in record.conditions]


def _check(condition: Condition, fact: Fact | None) -> Checked:
    if fact is None or not fact.values:
        missing = f"{condition.fact} is not known here" + (f": {fact.missing}" if fact and fact.missing else "")
        return Checked(condition, "cannot_tell", missing, fact)
    held = [(value, _holds(condition, value)) for value in fact.values]
    if any(hit is None for _, hit in held):
        return Checked(condition, "cannot_tell", f"{condition.fact} is no number here", fact)
    hits = [value for value, hit in held if hit]
    measured = ", ".join(map(shown, hits or fact.values))
    verdict = "come_true" if hits else "not_come_true"
    return Checked(condition, verdict, f"{condition.fact} is {measured}; retest when {condition.said()}", fact)


def _holds(condition: Condition, value: Value) -> bool | None:
    if condition.rule == "not_in":
        # A draft holds names as a report shows them: both sides are compared as such.
        return _named(value) not in map(_named, condition.values)
    if isinstance(value, str):
        return None
    below = condition.low is not None and value < condition.low
    above = condition.high is not None and value > condition.high
    return {"above": above, "below": below, "outside": below or above}[condition.rule]


def _text(value: Any, most: int) -> str:
    """A text of the record as a page shows it: taken alone, since inside a sentence a quote of it may seem to close."""
    return cut(redact(str(value)).text, most)


def _named(value: Value) -> Value:
    return hidden(value).text if isinstance(value, str) else value


def estimates(record: Decision, checked: list[Checked]) -> list[Estimate]:
    """decision.condition of each (1: it has come true) and decision.conditions_true, how many have."""
    found = []
    for number, c in enumerate(checked, start=1):
        name = f"{number}: {c.condition.name}"
        lines = (Evidence(record.file, line=c.condition.line), *(c.fact.evidence if c.fact else ()))
        made = not_computable("1", c.said) if c.verdict == "cannot_tell" else Estimate(
            float(c.verdict == "come_true"), "1", "census", f"against the record: {c.said}", n=1,
            n_of="conditions", reason="census: it has come true (1) or not (0)",
        )  # fmt: skip
        found.append(made.with_evidence(*lines).named("decision.condition", FINDING, condition=name))
    true = sum(c.verdict == "come_true" for c in checked)
    count = Estimate(
        float(true), "1", "census", "conditions of the record that have come true", n=len(checked), n_of="conditions",
        reason="census: of the conditions that could be checked", evidence=(Evidence(record.file),),
    )  # fmt: skip
    return [*found, count.named("decision.conditions_true", FINDING)]


def _value(raw: str | None) -> Any:
    try:
        return json.loads(raw or "null")
    except (ValueError, RecursionError):
        return None


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and isfinite(value)
    return float(value) if usable else None
