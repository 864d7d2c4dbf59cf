"""The ledger: each claim of published.toml against the estimate that it names: a verdict, and one sentence of why."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.rounding import show_number
from analysis.findings.assumed import SAID, Assumptions, assumptions, reconstruction
from analysis.findings.registry import Registry, UnknownIdError
from analysis.findings.verdicts import DIFFERS, NOT_COMPUTABLE, NOT_SUPPORTED, REPRODUCED, Said, Verdict, judge
from analysis.findings.words import listed, number_of

FINDING = "90-takeaways"
FILE = "published.toml"
CLAIMS = "select * from published_claims order by file, ordinal"
BROKEN = f"""
select file, line, what, text from unparsed where parse_filename(file) = '{FILE}'
union all
select file, null, message, '' from files where parse_filename(file) = '{FILE}' and status in ('unreadable', 'partial')
order by all
"""
HOW = (
    "Write what was published about this study into published.toml beside the data, a [[claim]] for each figure "
    "(docs/formats/published.md): the next report checks it."
)
"""Where no claim is there."""
IDS = 40
"""Most ids of claims in a sentence: they are short, and each is one to look up."""
WORDS = {REPRODUCED: "reproduced", DIFFERS: "differs", NOT_COMPUTABLE: "not computable", NOT_SUPPORTED: "not supported"}


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with what became of it; `estimate` is what it was held against, None where there is no such figure."""

    claim: Mapping[str, Any]
    verdict: Verdict
    estimate: Estimate | None = None
    found: Estimate | None = None
    """The figure that the claim names; `estimate` may be this one over another."""
    is_rebuilt: bool = False
    """Whether the files that it was held against were written from published figures."""

    @property
    def is_check(self) -> bool:
        """Whether it is a check of the study's author (C1, C2, ...) and not a figure that was published."""
        return re.match(r"C\d", str(self.claim["claim"])) is not None

    @property
    def stands(self) -> bool:
        """Whether the verdict is the one that the author stands by."""
        return bool(self.claim["stands"] == self.verdict.verdict)

    @property
    def why(self) -> str:
        """One sentence, and the author's note after it."""
        return ". ".join(part for part in (self.verdict.why, self.claim["note"]) if part)

    def to_json(self) -> dict[str, Any]:
        """The claim as results.json has it."""
        e = self.estimate
        row = {} if e is None else e.to_json()
        return {
            "id": self.claim["claim"], "text": self.claim["text"], "published": self.claim["published"],
            "unit": self.claim["unit"] or row.get("unit"), "estimate": self.claim["estimate"],
            "qualifiers": {} if e is None else dict(e.qualifiers), "recomputed": row.get("value"),
            "low": row.get("low"), "high": row.get("high"), "verdict": self.verdict.verdict, "why": self.why,
            "stands": self.claim["stands"], "evidence": row.get("evidence", []),
        }  # fmt: skip


def ledger(connection: duckdb.DuckDBPyConnection) -> list[Judged]:
    """Every claim of the study with its verdict, in the order of published.toml; empty where there is none."""
    rows = connection.sql(CLAIMS).pl().iter_rows(named=True)
    registry, assumed, is_rebuilt = Registry(connection), assumptions(connection), bool(reconstruction(connection))
    return [replace(_judged(row, registry, assumed), is_rebuilt=is_rebuilt) for row in rows]


def broken(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """What is wrong with published.toml, one sentence each."""
    rows = connection.sql(BROKEN).fetchall()
    return [f"{file}{'' if line is None else f', line {line}'}: {what}" for file, line, what, _ in rows]


def _judged(claim: Mapping[str, Any], registry: Registry, assumed: Assumptions) -> Judged:
    found = _find(registry, claim["estimate"], json.loads(claim["place"]))
    if isinstance(found, str):
        return Judged(claim, Verdict(NOT_COMPUTABLE, f"what is missing: {found}"))
    against, rests = found, [found]
    if claim["over"]:
        below = _find(registry, claim["over"], json.loads(claim["over_place"]))
        if isinstance(below, str):
            return Judged(claim, Verdict(NOT_COMPUTABLE, f"what is missing: {below}"), found, found)
        against, rests = _over(found, below), [found, below]
    if claim["unit"] and claim["unit"] != against.unit:
        why = f"the figure is in {against.unit} and the claim in {claim['unit']}: no comparison"
        return Judged(claim, Verdict(NOT_COMPUTABLE, why), against, found)
    said = Said(claim["relation"], claim["published"], claim["rounding"], claim["excludes"])
    return Judged(claim, _withheld(judge(said, against), rests, assumed), assumed.mark(against), found)


def _withheld(verdict: Verdict, rests: list[Estimate], assumed: Assumptions) -> Verdict:
    """No conclusion from an assumed number: what a study assumes decides no claim."""
    marks = [found for estimate in rests if (found := assumed.of(estimate))]
    for found in marks:
        if found[0] == "values" or (found[0] == "intervals" and verdict.used_interval):
            why = "; ".join(a.why for a in found[1])
            return Verdict(NOT_COMPUTABLE, f"rests on assumed figures: {why}")
    return replace(verdict, why=f"{verdict.why} ({'; '.join(SAID[part] for part, _ in marks)})") if marks else verdict


def _find(registry: Registry, id: str, place: Mapping[str, str]) -> Estimate | str:
    """The one estimate that a claim names, or why there is not exactly one."""
    where = ", ".join(f"{key} {value}" for key, value in place.items()) or "the whole study"
    try:
        under = registry.of(id)
    except UnknownIdError:
        return f"nothing computes {id}"
    found = [e for e in under if place.items() <= e.qualifiers.items()]
    if len(found) == 1:
        return found[0]
    if not found:
        arms = {e.qualifiers.get(key) for e in under for key in ("a", "b")}
        if absent := [place[key] for key in ("a", "b") if key in place and place[key] not in arms]:
            return f"there is no arm {' and no arm '.join(absent)}"
        return f"the study has no figure {id} for {where}"
    differ = sorted({key for e in found for key in e.qualifiers if len({o.qualifiers.get(key) for o in found}) > 1})
    return f"{len(found)} figures are called {id} for {where}; say which by {', '.join(differ)}"


def _over(a: Estimate, b: Estimate) -> Estimate:
    """One figure over another; an interval only where the other is exact."""
    unit = "x" if a.unit == b.unit else f"{a.unit} over {b.unit}"
    if a.value is None or not b.value:
        missing = a if a.value is None else b
        return no_interval(None, unit, "none", missing.reason or "divided by zero")
    evidence = (*a.evidence, *b.evidence)
    if b.kind != "census":
        ratio = no_interval(a.value / b.value, unit, "ratio", "both figures are estimates")
        return replace(ratio, evidence=evidence, qualifiers=a.qualifiers)
    ends = (None if end is None else end / b.value for end in (a.value, a.low, a.high))
    value, low, high = ends
    return replace(
        a, value=value, low=low, high=high, unit=unit, evidence=evidence, sensitivity={}, warnings=a.warnings
    )


def table(judged: list[Judged]) -> pl.DataFrame:
    """One row a claim: what was published, the verdict, and what the data say."""
    rows = [
        (
            j.claim["claim"],
            "a check of ours" if j.is_check else "published",
            j.claim["text"],
            _published(j),
            WORDS[j.verdict.verdict] if j.found is None else Shown(j.found, WORDS[j.verdict.verdict]),
            _why(j),
        )
        for j in judged
    ]
    names = ("claim", "which is", "what it says", "figure", "verdict", "why")
    return cells.frame(rows, dict.fromkeys(names, pl.String))


def _why(j: Judged) -> str | Shown:
    said = j.why[:1].upper() + j.why[1:]
    return said if j.found is None else Shown(j.found, said, "reason")


def _published(j: Judged) -> str:
    if j.claim["printed"]:
        return str(j.claim["printed"])
    value, unit = j.claim["published"], j.claim["unit"]
    return "no figure" if value is None else show_number(value, unit, digits=3)


def counts(judged: list[Judged]) -> list[Estimate]:
    """claims.verdict_count of each verdict, of published figures and of checks apart; empty where there is none."""
    parts = [("published figures", published(judged)), ("checks", [j for j in judged if j.is_check])]
    return [
        Estimate(
            sum(j.verdict.verdict == verdict for j in of), "1", "census", "claims counted by verdict",
            n=len(of), n_of=name, reason=f"census: all {name} of published.toml",
        ).named("claims.verdict_count", FINDING, verdict=words, of=name)
        for name, of in parts for verdict, words in WORDS.items() if of
    ]  # fmt: skip


def published(judged: list[Judged]) -> list[Judged]:
    """The claims that somebody published, without the checks of the study's author."""
    return [j for j in judged if not j.is_check]


def counted(judged: list[Judged]) -> pl.DataFrame:
    """One row a verdict that some published figure got: how many."""
    rows = [(e.qualifiers["verdict"], "claims", round(e.value or 0)) for e in counts(published(judged)) if e.value]
    return pl.DataFrame(rows, schema={"verdict": pl.String, "unit": pl.String, "n": pl.Int64}, orient="row")


def sentence(judged: list[Judged], problems: list[str]) -> str:
    """The answer: how many published figures the data carry, which they contradict, and what the checks found."""
    if problems:
        rest = sentence(judged, []) if judged else ""
        return f"The published claims cannot all be checked: {problems[0]}. {rest}".rstrip()
    if not judged:
        return "No published claim is checked: the study has no published.toml."
    return " ".join(part for part in (_of_published(published(judged)), _of_checks(judged), _rebuilt(judged)) if part)


def _of_published(judged: list[Judged]) -> str:
    if not judged:
        return ""
    against = [j.claim["claim"] for j in judged if j.verdict.verdict == DIFFERS]
    said = f"Of {number_of(len(judged), 'published figure')}, {_verdicts(judged)}."
    return said + (f" The data contradict {listed(against, IDS)}." if against else "")


def _of_checks(judged: list[Judged]) -> str:
    checks = [j for j in judged if j.is_check]
    if not checks:
        return ""
    against = [j.claim["claim"] for j in checks if j.verdict.verdict == DIFFERS]
    rest = _verdicts([j for j in checks if j.verdict.verdict != DIFFERS])
    found = f"{len(against) or 'none'} found a problem" + (f": {', '.join(against)}" if against else "")
    return f"Of {number_of(len(checks), 'check')} of ours, {'; '.join(part for part in (found, rest) if part)}."


def _rebuilt(judged: list[Judged]) -> str:
    if not any(j.is_rebuilt and j.verdict.verdict == REPRODUCED for j in judged):
        return ""
    return "The files were written from these figures: reproduced means consistent, not replicated."


def _verdicts(judged: list[Judged]) -> str:
    parts = [_said(v, n) for v in WORDS if (n := sum(j.verdict.verdict == v for j in judged))]
    return listed(parts)


def _said(verdict: str, n: int) -> str:
    if verdict == DIFFERS:
        return f"{n} {'differs' if n == 1 else 'differ'}"
    return f"{n} {'is' if n == 1 else 'are'} {WORDS[verdict]}"


def describe(judged: list[Judged]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of verdicts on published figures."""
    of = published(judged)
    rows = [f"{word}: {n}" for word, _, n in counted(judged).iter_rows()]
    n, checks = sum(j.verdict.verdict == REPRODUCED for j in of), len(judged) - len(of)
    apart = f"; {number_of(checks, 'check')} of ours {'is' if checks == 1 else 'are'} not among them" if checks else ""
    return {
        "title": f"{n} of {number_of(len(of), 'published figure')} {'is' if n == 1 else 'are'} reproduced"
        if of else "No published claim is checked",
        "subtitle": f"published figures by verdict; counted, exact{apart}",
        "description": "Verdicts on published figures. " + ("; ".join(rows) or "There is none."),
    }  # fmt: skip


def advice(judged: list[Judged], problems: list[str]) -> dict[str, Any]:
    """What to do about the ledger and what would change it."""
    if problems:
        return {"next_step": "Correct published.toml (docs/formats/published.md).", "contradiction": True}
    unsure = [j.claim["claim"] for j in published(judged) if j.verdict.verdict in (NOT_SUPPORTED, DIFFERS)]
    return {
        "next_step": f"Quote {listed(unsure, IDS)} only with what the ledger says of them." if unsure else "",
        "unless": "further boots and runs narrow the intervals; a claim that is not supported may then be carried.",
    }


def figures_table(estimates: list[Estimate]) -> pl.DataFrame:
    """One row a figure: its id, what it is about, and what the data say."""
    rows = [(e.id, ", ".join(f"{k} {v}" for k, v in sorted(e.qualifiers.items())), e) for e in estimates]
    return cells.frame(rows, dict.fromkeys(("figure", "of", "the data say"), pl.String))
