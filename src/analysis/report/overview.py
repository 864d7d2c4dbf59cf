"""The first page: what the data say, how sure that is, what could not be said, and where it comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.report.answer import anchor
from analysis.report.errors import ReportError
from analysis.report.grouping import Caution, Group, cautions, groups
from analysis.report.labels import label
from analysis.report.names import NUMBERS
from analysis.report.pages import Page, fill
from analysis.report.provenance import Fact, facts
from analysis.report.results import Results, estimate_from_json, key
from analysis.report.takeaways import SHOWN


@dataclass(frozen=True, slots=True)
class Number:
    """A number under a takeaway; `page` and `anchor` lead to how it was obtained."""

    label: str
    text: str
    page: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Takeaway:
    """A sentence that the data support, the numbers it rests on, and what a reader must know with them."""

    sentence: str
    numbers: tuple[Number, ...] = ()
    cautions: tuple[Caution, ...] = ()
    next_step: str = ""
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """What was asked and could not be computed for one and the same reason."""

    group: Group
    reason: str


@dataclass(frozen=True, slots=True)
class ReportIndex:
    """Everything on the first page."""

    study: str
    takeaways: tuple[Takeaway, ...] = ()
    missing: tuple[Gap, ...] = ()
    provenance: tuple[Fact, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    lead: str = ""
    shown: int = SHOWN


def index_of(results: Results, pages: Sequence[Page]) -> ReportIndex:
    """The first page's content, from results.json and the pages: the takeaways in its order.

    Raises ReportError for a takeaway on no number.
    """
    bodies = {page.stem: page.body for page in pages}
    by_key = {key(row): estimate_from_json(row) for row in results.json["estimates"]}
    takeaways = []
    for row in results.json["takeaways"]:
        named = [key(reference) for reference in row.get("estimates", ())]
        if unknown := [k for k in named if k not in by_key]:
            raise ReportError(f"a takeaway of {row['page']} rests on {unknown[0]}, which no notebook recorded")
        numbers = [_number(by_key[k], results.page_of[k], bodies) for k in named]
        warned = tuple(cautions([by_key[k] for k in named]))
        then = (row.get("next_step", ""), row.get("unless", ""))
        takeaways.append(Takeaway(row["sentence"], tuple(numbers), warned, *then))
    provenance = facts(results.json["generated_from"])
    return ReportIndex(results.json["study"], tuple(takeaways), missing(by_key.values()), provenance, results.redacted)


def render_index(index: ReportIndex, pages: Sequence[Page], banner: str = "") -> str:
    """The HTML of index.html; `banner` stands on top of it."""
    return fill(
        "overview.html.j2", "index", study=index.study, index=index, pages=pages, here="index", toc=(), banner=banner
    )  # fmt: skip


def missing(estimates: Iterable[Estimate]) -> tuple[Gap, ...]:
    """What could not be computed: one gap a reason and group of figures."""
    by_reason: dict[str, list[Estimate]] = {}
    for e in estimates:
        if e.value is None and e.low is None and e.high is None:
            reason = (e.reason or "no reason was given").removeprefix("not computable: ")
            by_reason.setdefault(reason, []).append(e)
    return tuple(Gap(group, reason) for reason, without in by_reason.items() for group in groups(without))


def _number(estimate: Estimate, page: str, bodies: Mapping[str, str]) -> Number:
    place = anchor(estimate)
    shown = f'id="{place}"' in bodies.get(page, "")
    return Number(label(estimate), show(estimate), page if shown else NUMBERS, place)
