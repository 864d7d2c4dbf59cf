"""The first page: what the data say, how sure that is, what could not be said, and where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.report.answer import anchor
from analysis.report.errors import ReportError
from analysis.report.labels import label
from analysis.report.pages import Page, fill
from analysis.report.results import Results, estimate_from_json, key


@dataclass(frozen=True, slots=True)
class Number:
    """A number under a takeaway; `page` and `anchor` lead to how it was obtained."""

    label: str
    text: str
    warnings: tuple[str, ...] = ()
    page: str | None = None
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Takeaway:
    """A sentence that the data support, and the numbers it rests on."""

    sentence: str
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """What was asked and could not be computed, and why."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportIndex:
    """Everything on the first page. `provenance` is a tree of mappings, lists and plain values, shown as it is."""

    study: str
    takeaways: tuple[Takeaway, ...] = ()
    missing: tuple[Gap, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    lead: str = ""


def index_of(results: Results, pages: Sequence[Page]) -> ReportIndex:
    """The first page's content, from results.json and the pages. Raises ReportError for a takeaway on no number."""
    bodies = {page.stem: page.body for page in pages}
    by_key = {key(row): estimate_from_json(row) for row in results.json["estimates"]}
    takeaways = []
    for row in results.json["takeaways"]:
        named = [key(reference) for reference in row.get("estimates", ())]
        if unknown := [k for k in named if k not in by_key]:
            raise ReportError(f"a takeaway of {row['page']} rests on {unknown[0]}, which no notebook recorded")
        numbers = [_number(by_key[k], results.page_of[k], bodies) for k in named]
        takeaways.append(Takeaway(row["sentence"], tuple(numbers)))
    missing = [Gap(label(e), e.reason or "no reason was given") for e in by_key.values() if e.value is None]
    return ReportIndex(
        results.json["study"], tuple(takeaways), tuple(missing), results.json["generated_from"], results.redacted
    )


def render_index(index: ReportIndex, pages: Sequence[Page]) -> str:
    """The HTML of index.html."""
    return fill("overview.html.j2", "index", study=index.study, index=index, pages=pages, here="index", toc=())


def _number(estimate: Estimate, page: str, bodies: Mapping[str, str]) -> Number:
    place = anchor(estimate)
    shown = f'id="{place}"' in bodies.get(page, "")
    return Number(label(estimate), show(estimate), estimate.warnings, page if shown else None, place)
