"""The draft of a decision record: what the study holds, in TOML, for a person to complete."""

import json
import re
from collections.abc import Iterable

from analysis.findings.decision import OPEN
from analysis.findings.decision_facts import SPREAD, Fact, Value
from analysis.redact import redact


def draft(date: str, facts: dict[str, Fact], settings: dict[str, str], arm: str | None, reasons: Iterable[str]) -> str:
    """The text of a decision.toml. `settings` has the setting of each arm; `reasons` are sentences of the report.

    Conditions are drafted for what is known here, and say how each limit was chosen; what is not known is a comment.
    """
    only = next(iter(settings)) if len(settings) == 1 else None
    chosen = arm or only
    objective = facts["objective"].values
    lines = [
        "# A draft: complete it, keep it beside the data. Format: docs/formats/decision.md",
        f"date = {_text(date)}",
        f"objective = {_text('; '.join(map(str, objective)) if objective else 'not declared before the measurement')}",
        f"workload = {_text(workload(facts))}",
        *_reasoning(reasons),
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


def _reasoning(reasons: Iterable[str]) -> list[str]:
    found = list(reasons)
    if not found:
        return [f"reasoning = {_text(OPEN)}"]
    return [f"reasoning = {_text(' '.join(found))}"]


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
