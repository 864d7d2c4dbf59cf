"""The sentence and the tables of page 80: laid out, nothing computed anew."""

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.findings.decision import Checked, Decision
from analysis.findings.decision_facts import Fact, shown

WORDS = {"come_true": "has come true", "not_come_true": "has not", "cannot_tell": "cannot be told"}


def sentence(record: Decision | None, checked: list[Checked], broken: str | None) -> str:
    """The answer: which conditions have come true, with the numbers; or that there is no record to hold anything to."""
    if record is None:
        return f"The decision record cannot be read: {broken}." if broken else (
            "No decision was written down beside this study (decision.toml)."
        )  # fmt: skip
    when = f" of {record.text['date']}" if "date" in record.text else ""
    true = [c for c in checked if c.verdict == "come_true"]
    blind = sum(c.verdict == "cannot_tell" for c in checked)
    rest = f"; {blind} cannot be told from these data" if blind else ""
    if not checked:
        return f"The decision{when} has no condition that could be checked."
    if not true:
        return f"None of the {len(checked)} retest conditions of the decision{when} has come true{rest}."
    said = "; ".join(f"{c.condition.name} ({c.said})" for c in true)
    return f"{len(true)} of {len(checked)} retest conditions of the decision{when} have come true: {said}{rest}."


def is_draft(record: Decision | None, checked: list[Checked]) -> bool:
    """Whether there is nothing to act on first: no record, or an unfinished one of which nothing has come true."""
    return record is None or (bool(record.problems) and not any(c.verdict == "come_true" for c in checked))


def next_step(record: Decision | None, checked: list[Checked], broken: str | None = None) -> str:
    """What to do about it."""
    if record is None:
        draft = "`make decide DATA=...` writes a draft to complete."
        return "Correct that line; `make decide DATA=... FORCE=1` writes a new draft over it." if broken else draft
    if any(c.verdict == "come_true" for c in checked):
        return "Measure the choice again under what has changed, and write a new record."
    return "Complete the record: " + "; ".join(record.problems) + "." if record.problems else ""


def record_table(record: Decision | None, broken: str | None) -> pl.DataFrame:
    """One row for each thing that the record says, and for each that it lacks or that was not understood."""
    rows = [("no record", broken or "decision.toml is not there")] if record is None else [
        *record.text.items(), *((f"chosen {key}", value) for key, value in record.chosen.items()),
        *(("not understood", problem) for problem in record.problems),
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={"part": pl.String, "as written": pl.String}, orient="row")


def condition_table(checked: list[Checked], counted: list[Estimate]) -> pl.DataFrame:
    """One row a condition: what it waits for, what is measured, and whether it has come true.

    `counted` are decision.estimates: first one for each condition.
    """
    rows = [
        (c.condition.name, c.condition.fact, c.condition.said(), Shown(e, WORDS[c.verdict]), c.said, c.condition.why)
        for c, e in sorted(zip(checked, counted, strict=False), key=lambda pair: list(WORDS).index(pair[0].verdict))
    ]
    columns = ("condition", "fact", "retest when", "verdict", "measured", "why")
    return cells.frame(rows, dict.fromkeys(columns, pl.String))


def fact_table(facts: dict[str, Fact]) -> pl.DataFrame:
    """One row a fact: its values here, or what is missing."""
    rows = [
        (fact.name, ", ".join(map(shown, fact.values)) or "not known", "" if fact.values else fact.missing,
         "; ".join(e.file for e in fact.evidence[:3]))
        for fact in facts.values()
    ]  # fmt: skip
    columns = ("fact", "in this study", "what is missing", "from")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
