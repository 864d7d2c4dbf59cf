"""The answer first: a sentence, its numbers, and on demand how each was obtained."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape

from analysis.estimates.estimate import Estimate, Evidence
from analysis.estimates.rounding import show
from analysis.redact import redact
from analysis.report.grouping import Caution, cautions
from analysis.report.headline import divided
from analysis.report.labels import label
from analysis.report.names import part, slug

EVIDENCE_SHOWN = 12
NOTHING = "answer nothing"
"""The class of what stands on a page that has nothing else; the report leaves out what follows it."""
SOURCE = "-from"
"""Ends the id under which a number's evidence stands, after the number's own."""
_KIND = {
    "census": "counted exactly: no interval is due",
    "estimate": "an estimate",
    "bound": "a bound: the truth cannot lie outside",
    "identity": "an identity: it must hold exactly",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A block for the page."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def answer(sentence: str, *estimates: Estimate) -> Answer:
    """The takeaway sentence and the estimates it rests on, each with interval, method and evidence; warnings last.

    Everything is escaped, and what is quoted from a file is redacted.
    """
    numbers = "".join(number_block(e) for e in estimates)
    warnings = "".join(f"<li>{_text(_said(caution))}</li>" for caution in cautions(estimates))
    listed = f'<ul class="warnings">{warnings}</ul>' if warnings else ""
    head, *others = divided(redact(sentence).text)
    rest = " ".join(filter(None, others))
    then = f'<p class="then">{escape(rest)}</p>' if rest else ""
    said = f'<p class="takeaway">{escape(head)}</p>{then}'
    return Answer(f'<section class="answer">{said}{numbers}{listed}</section>')


def nothing(sentence: str, how: str) -> Answer:
    """What the study lacks for this page, and how to get it, in place of an answer and of all that would follow."""
    step = f'<p class="step"><span class="name">What to do:</span> {_text(how)}</p>' if how else ""
    return Answer(f'<section class="{NOTHING}"><p class="takeaway">{_text(sentence)}</p>{step}</section>')


def source(evidence: Evidence) -> str:
    """The file, and the line where it is known, that an input came from."""
    return evidence.file + (f", line {evidence.line:,}" if evidence.line is not None else "")


def anchor(estimate: Estimate) -> str:
    """The id under which a page shows an estimate, for deep links."""
    names = [f"{slug(k)}-{part(redact(v).text)}" for k, v in sorted(estimate.qualifiers.items())]
    return "-".join([slug("n", estimate.id), *names])


def number_block(estimate: Estimate) -> str:
    """A number in words with its interval, under its anchor, and on demand how it was obtained; all escaped."""
    name, value = _text(label(estimate)), _text(show(estimate))
    how = f"<details><summary>How this was obtained</summary>{_how(estimate)}{_evidence(estimate)}</details>"
    line = f'<p><span class="name">{name}</span> <strong class="value">{value}</strong></p>'
    return f'<div class="estimate" id="{anchor(estimate)}">{line}{how}</div>'


def _said(caution: Caution) -> str:
    return f"{caution.text} – this is about {'; '.join(map(str, caution.about))}" if caution.about else caution.text


def _how(estimate: Estimate) -> str:
    confidence = None if estimate.confidence is None else f"{100 * estimate.confidence:.0f} %"
    n = None if estimate.n is None else f"{estimate.n:,} {estimate.n_of}".strip()
    facts: Iterable[tuple[str, str | None]] = (
        ("Id", estimate.id), ("Kind", _KIND[estimate.kind]), ("Method", estimate.method),
        ("Assumption", estimate.assumption), ("Confidence", confidence), ("n", n),
        (_why(estimate), estimate.reason), ("Verdict", estimate.verdict), ("Why this method", estimate.picked),
        *((f"With {worse}", show(replace(estimate, low=ends[0], high=ends[1])))
          for worse, ends in estimate.sensitivity.items()),
    )  # fmt: skip
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{_text(v)}</dd>" for k, v in facts if v) + "</dl>"


def _why(estimate: Estimate) -> str:
    """What the reason of a number explains."""
    if estimate.low is not None or estimate.high is not None:
        return "Note"
    return "Absent because" if estimate.value is None else "No interval because"


def _evidence(estimate: Estimate) -> str:
    evidence = estimate.evidence
    if not evidence:
        return ""
    rest = len(evidence) - EVIDENCE_SHOWN
    items = "".join(f"<li>{_source(e)}</li>" for e in evidence[:EVIDENCE_SHOWN])
    more = f"<p>and {rest:,} more: see results.json</p>" if rest > 0 else ""
    return f'<p class="name" id="{anchor(estimate)}{SOURCE}">Evidence</p><ul class="evidence">{items}</ul>{more}'


def _source(evidence: Evidence) -> str:
    parts = [f"<b>{_text(source(evidence))}</b>"]
    parts += [f"<code>{_text(t)}</code>" for t in (evidence.series, evidence.quote) if t]
    parts += [_text(evidence.window)] if evidence.window else []
    return "<br>".join(parts)


def _text(text: str) -> str:
    return escape(redact(text).text)
