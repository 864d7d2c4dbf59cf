"""Pages: one design, readable without a script, nothing fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.redact import is_off
from analysis.report.errors import ReportError
from analysis.report.offline import loads

TEMPLATES = Path(__file__).parent / "template"
SCRIPTS = ("assets/search.js", "assets/figures.js")
"""What every page runs where it may; without them it is read all the same."""


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of a page's table of contents."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Page:
    """One notebook's page: `body` is the HTML between header and footer, `summary` one sentence of plain text.

    Where the study has nothing for it, `nothing` says what is missing and how to get it.
    """

    stem: str
    title: str
    summary: str
    body: str
    toc: tuple[Heading, ...]
    nothing: str = ""


def render(page: Page, pages: Sequence[Page], study: str, banner: str = "") -> str:
    """The whole HTML of a page, with its place among the pages and `banner` on top.

    Raises ReportError if it would fetch anything.
    """
    at = pages.index(page)
    return fill(
        "notebook.html.j2", page.stem,
        study=study, pages=pages, here=page.stem, toc=page.toc, page=page, body=Markup(page.body), banner=banner,
        previous=pages[at - 1] if at else None, following=pages[at + 1] if at + 1 < len(pages) else None,
    )  # fmt: skip


def fill(template: str, name: str, **values: Any) -> str:
    """A page from one of our templates, everything escaped but what is Markup already; checked to be self-contained."""
    html = _environment().get_template(template).render(style=_style(), scripts=SCRIPTS, unredacted=is_off(), **values)
    if found := loads(html):
        raise ReportError(f"the page {name} would run or fetch {found[0]}: show charts with figure()")
    return html


@cache
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True)


@cache
def _style() -> Markup:
    return Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
