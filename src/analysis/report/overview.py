"""The first page: what the data say, how sure that is, what could not be said, and where it comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.redact import redact
from analysis.report.answer import anchor, source
from analysis.report.asked import Asked, asked
from analysis.report.errors import ReportError
from analysis.report.grouping import Caution, Group, cautions, groups
from analysis.report.headline import divided
from analysis.report.labels import label
from analysis.report.names import NUMBERS
from analysis.report.pages import Heading, Page, fill
from analysis.report.provenance import Fact, facts
from analysis.report.results import Results, estimate_from_json, key
from analysis.report.takeaways import SHOWN, first, heading, rank

NUMBERS_SHOWN = 3
"""Most numbers under a takeaway that are not folded away."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number under a takeaway: what kind it is, and the first line that it came from.

    `page` and `anchor` lead to how it was obtained, with `-from` to the lines it came from.
    """

    label: str
    text: str
    page: str
    anchor: str
    kind: str = ""
    source: str = ""
    more_sources: int = 0


@dataclass(frozen=True, slots=True)
class Takeaway:
    """A sentence that the data support, the numbers it rests on, and what a reader must know with them."""

    sentence: str
    numbers: tuple[Number, ...] = ()
    cautions: tuple[Caution, ...] = ()
    next_step: str = ""
    unless: str = ""
    page: str = ""

    @property
    def parts(self) -> tuple[str, str, str]:
        """Its headline, what is read with it, and what is folded away."""
        return divided(self.sentence)


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
    first: Takeaway | None = None
    shown: int = SHOWN
    numbers_shown: int = NUMBERS_SHOWN
    asked: Asked = field(default_factory=Asked)

    @property
    def begins_with(self) -> str:
        """The heading of what comes first."""
        return heading(self.first.page if self.first else "")

    @property
    def toc(self) -> tuple[Heading, ...]:
        """Its sections."""
        sections = (
            (self.begins_with, "first", self.first), ("What the data say", "takeaways", True), ("Pages", "pages", True),
            ("What could not be computed", "missing", True), ("Where this comes from", "provenance", True),
        )  # fmt: skip
        return tuple(Heading(2, text, anchor) for text, anchor, there in sections if there)


def index_of(results: Results, pages: Sequence[Page]) -> ReportIndex:
    """The first page's content, from results.json and the pages: the takeaways in its order.

    Raises ReportError for a takeaway on no number.
    """
    bodies = {page.stem: page.body for page in pages}
    by_json = {key(row): row for row in results.json["estimates"]}
    by_key = {k: estimate_from_json(row) for k, row in by_json.items()}
    takeaways, ranks = [], []
    for row in results.json["takeaways"]:
        named = [key(reference) for reference in row.get("estimates", ())]
        if unknown := [k for k in named if k not in by_key]:
            raise ReportError(f"a takeaway of {row['page']} rests on {unknown[0]}, which no notebook recorded")
        numbers = [
            _number(by_key[k], results.page_of[k], bodies) for k in sorted(named, key=lambda k: _is_open(by_key[k]))
        ]
        warned = tuple(cautions([by_key[k] for k in named]))
        then = (row.get("next_step", ""), row.get("unless", ""))
        takeaways.append(Takeaway(row["sentence"], tuple(numbers), warned, *then, row["page"]))
        ranks.append(rank(row, (by_json[k] for k in named)))
    place = first([takeaway.page for takeaway in takeaways], ranks)
    chosen = None if place is None else takeaways.pop(place)
    provenance = facts(results.json["generated_from"])
    return ReportIndex(
        results.json["study"], tuple(takeaways), missing(by_key.values()), provenance, results.redacted, chosen,
        asked=asked(results.json),
    )  # fmt: skip


def render_index(index: ReportIndex, pages: Sequence[Page], banner: str = "") -> str:
    """The HTML of index.html; `banner` stands on top of it."""
    return fill(
        "overview.html.j2", "index", study=index.study, index=index, pages=pages, here="index", toc=index.toc,
        banner=banner,
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
    evidence = estimate.evidence
    return Number(
        label(estimate), show(estimate), page if shown else NUMBERS, place, _kind(estimate),
        redact(source(evidence[0])).text if evidence else "", max(len(evidence) - 1, 0),
    )  # fmt: skip


def _is_open(estimate: Estimate) -> bool:
    """Whether an interval is lacking, or one of its ends."""
    return any(end is None or isinf(end) for end in (estimate.low, estimate.high)) and estimate.kind == "estimate"


def _kind(estimate: Estimate) -> str:
    """How sure a number is, in few words."""
    if estimate.kind != "estimate":
        return {"census": "counted", "bound": "a bound", "identity": "an identity"}[estimate.kind]
    if estimate.low is None and estimate.high is None:
        return ""
    if _is_open(estimate):
        return "a limit on one side" if estimate.confidence is None else f"{100 * estimate.confidence:.0f} % limit"
    return "a range" if estimate.confidence is None else f"estimate, {100 * estimate.confidence:.0f} % interval"
