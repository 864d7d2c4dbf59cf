"""The draft of a decision record: what the study holds, in TOML, for a person to complete."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from shlex import quote

from analysis.findings.decision import OPEN
from analysis.findings.decision_facts import SPREAD, Fact, Value
from analysis.findings.words import number_of, one_line
from analysis.redact import redact

UNDECLARED = "not declared before the measurement"
ARMS, NAME = 8, 60
"""Most arms that are named as a choice, and most characters of a name."""


def draft(
    date: str,
    facts: dict[str, Fact],
    settings: dict[str, str],
    arm: str | None,
    reasons: Sequence[str],
    others: Sequence[str] = (),
) -> str:
    """The text of a decision.toml. `settings` has the setting of each arm; `reasons` are sentences of the report.

    `others` are pages whose findings are only named. Conditions are drafted for what is known here, and say how each
    limit was chosen; what is not known is a comment.
    """
    only = next(iter(settings)) if len(settings) == 1 else None
    chosen = arm or only
    objective = facts["objective"].values
    lines = [
        "# A draft: complete it, keep it beside the data. Format: docs/formats/decision.md",
        f"date = {_text(date)}",
        f"objective = {_text('; '.join(map(str, objective)) if objective else UNDECLARED)}",
        f"workload = {_text(workload(facts))}",
        f"reasoning = {_text(_reasoning(reasons, others))}",
        "",
        "[chosen]",
        *([] if chosen else [f"# arms measured: {_comment('; '.join(settings) or 'none')}"]),
        f"arm = {_text(chosen or '')}",
        f"setting = {_text(settings.get(chosen or '', ''))}",
        "",
        "# Retest when one of these comes true: a later report on new data says which has.",
    ]
    for fact in facts.values():
        lines += _condition(fact)
    return "\n".join(lines) + "\n"


def workload(facts: dict[str, Fact]) -> str:
    """The workload in words: classes with their shares, the longest prompt and output, users at once."""
    shares = [f"{name[12:]} {fact.values[0]:.0%}" for name, fact in facts.items()
              if name.startswith("class_share.") and fact.values]  # fmt: skip
    said = [", ".join(shares)] if shares else ["no classes recorded"]
    for name, words in (("longest_prompt_tokens", "prompts of up to {:.0f} tokens"),
                        ("longest_output_tokens", "outputs of up to {:.0f} tokens"),
                        ("requests_at_once", "up to {:.0f} requests at once")):  # fmt: skip
        said += [words.format(facts[name].values[0])] if facts[name].values else []
    return "; ".join(said)


def to_do(text: str, arms: Iterable[str], data: str) -> list[str]:
    """What a person does with a draft, a line each: what to fill in, what to look through, and the command after it."""
    record, names = tomllib.loads(text), [one_line(arm, NAME) for arm in arms]
    lines = ["This is a draft. Fill in:"]
    if not record["chosen"]["arm"]:
        more = f" and {len(names) - ARMS} more" if names[ARMS:] else ""
        lines.append(f"   [chosen] arm and setting: what was chosen, one of {', '.join(names[:ARMS]) or 'none'}{more}")
    if record["objective"] == UNDECLARED:
        lines.append("   objective: what it was decided for (study.toml declares none)")
    quotes = "write it (make report first, then FORCE=1, quotes what was found)"
    if record["reasoning"] != OPEN:
        quotes = "say why in your words; it quotes what the report found first"
    lines.append(f"   reasoning: {quotes}")
    kept = "keep those that would make you measure again"
    lines.append(f"Look through the {number_of(len(record.get('retest', ())), 'retest condition')}: {kept}.")
    return [*lines, f"Then: make report DATA={quote(data)}; its page “The decision” says what has come true."]


def _reasoning(reasons: Sequence[str], others: Sequence[str]) -> str:
    if not reasons:
        return OPEN
    return " ".join([*reasons, *([f"Also in the report: {', '.join(others)}."] if others else [])])


def _condition(fact: Fact) -> list[str]:
    if not fact.values:
        return ["", f"# {_comment(fact.reading)}: {fact.name} is not known ({_comment(fact.missing)})"]
    body = [f"values = [{', '.join(map(_value, fact.values))}]"]
    why = "the decision was measured with these"
    number = fact.values[0]
    if fact.rule == "above" and not isinstance(number, str):
        body, why = [f"high = {_value(number)}"], "the largest that was measured; beyond it nothing is known"
    if fact.rule == "outside" and not isinstance(number, str):
        low, high = max(0.0, number - SPREAD), min(1.0, number + SPREAD)
        body = [f"low = {_value(round(low, 4))}", f"high = {_value(round(high, 4))}"]
        why = f"measured {number:.2g}; {SPREAD:g} either way is the draft's own choice: set it"
    return ["", "[[retest]]", f"name = {_text(fact.reading)}", f"fact = {_text(fact.name)}", f'rule = "{fact.rule}"',
            *body, f"why = {_text(why)}"]  # fmt: skip


def _value(value: Value) -> str:
    if isinstance(value, str):
        return _text(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _text(text: str) -> str:
    """A TOML string: JSON's, without what TOML does not allow in one, and without what a report leaves out."""
    clean = redact(text).text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", " ", clean), ensure_ascii=False)


def _comment(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", " ", redact(text).text.encode("utf-8", "replace").decode("utf-8"))
