"""What a post is made of: sentences with the numbers that they rest on, pictures, tables, sections and notes."""

from dataclasses import dataclass, field

from markupsafe import Markup

from analysis.estimates.estimate import Estimate, Evidence
from analysis.estimates.rounding import show
from analysis.redact import redact
from analysis.report.labels import label
from analysis.report.names import slug
from analysis.report.results import key

PLACES = 2
"""Most places that a note names; results.json has them all."""


@dataclass(frozen=True, slots=True)
class Said:
    """One or more sentences, and the estimates that carry them: their evidence becomes a footnote."""

    text: str
    rests: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of the report: its files are figures/<name>.svg and .png, `html` is what the page shows."""

    name: str
    title: str
    alt: str
    caption: str
    html: Markup


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: every row as long as `head`; `caption` says what a row is."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its paragraphs, then points, a table and a picture, each where there is one."""

    title: str
    paragraphs: tuple[tuple[Said, ...], ...] = ()
    points: tuple[Said, ...] = ()
    table: Rows | None = None
    picture: Picture | None = None
    code: str = ""
    boxed: bool = False

    @property
    def anchor(self) -> str:
        """The id of its heading."""
        return slug(self.title)

    def sentences(self) -> tuple[Said, ...]:
        """Everything said, in reading order."""
        return (*(said for paragraph in self.paragraphs for said in paragraph), *self.points)


@dataclass(slots=True)
class Notes:
    """The footnotes, numbered in the order in which they are first needed."""

    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    estimates: dict[str, Estimate] = field(default_factory=dict)

    def number(self, said: Said) -> int | None:
        """The number of the note under a sentence; None where it rests on no estimate."""
        known = [e for e in said.rests if e.value is not None or e.low is not None]
        if not known:
            return None
        names = tuple(key(e.to_json()) for e in known)
        if names not in self._numbers:
            self._numbers[names] = len(self._numbers) + 1
            self.texts.append("; ".join(map(_note, known)) + ".")
            self.estimates.update(zip(names, known, strict=True))
        return self._numbers[names]


def _note(estimate: Estimate) -> str:
    places = list(dict.fromkeys(_place(e) for e in estimate.evidence))
    rest = len(places) - PLACES
    named = ", ".join(places[:PLACES]) + (f" and {rest:,} more in results.json" if rest > 0 else "")
    return redact(f"{label(estimate)}: {show(estimate)}, {estimate.method}" + (f"; from {named}" if named else "")).text


def _place(evidence: Evidence) -> str:
    parts = [evidence.file, f"line {evidence.line}" if evidence.line is not None else "", evidence.series or ""]
    return " ".join([*filter(None, parts), *([f"({evidence.window})"] if evidence.window else [])])
