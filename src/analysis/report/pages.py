"""Executed notebooks as pages: one design, readable without a script, nothing fetched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbconvert import HTMLExporter
from traitlets.config import Config

from analysis.redact import is_off, redact
from analysis.report.answer import NOTHING
from analysis.report.errors import ReportError
from analysis.report.names import slug
from analysis.report.offline import loads

TEMPLATES = Path(__file__).parent / "template"
SCRIPTS = ("assets/search.js", "assets/figures.js")
"""What every page runs where it may; without them it is read all the same."""
_HIDDEN_TAGS = {"remove-cell", "parameters", "injected-parameters"}
_HEADING = re.compile(r"<h([1-4])>(.*?)</h\1>", re.S)


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


def convert(notebook: Path) -> Page:
    """Turn an executed notebook into a page.

    The title is the notebook's metadata `title`, else its first heading, else its name; the summary is the metadata
    `summary`, else the first paragraph. Code is folded away; set-up and parameter cells and standard
    error are left out, and so is all that follows where a cell said that the study has nothing for this page.
    """
    nb = nbformat.read(notebook, as_version=4)
    nothing = _cut(nb)
    html, _ = _exporter().from_notebook_node(nb)
    body, headings = anchored(html)
    first = headings[0].text if headings else notebook.stem
    paragraph = re.search(r"<p>(.*?)</p>", html, re.S)
    summary = nb.metadata.get("summary") or (_text(paragraph[1]) if paragraph else "")
    toc = tuple(h for h in headings if h.level in (2, 3))
    return Page(notebook.stem, nb.metadata.get("title") or first, summary, body, toc if len(toc) > 1 else (), nothing)


def _cut(nb: nbformat.NotebookNode) -> str:
    """Cut a notebook after the cell that says that there is nothing, leave its code out; what it says, or nothing."""
    for at, cell in enumerate(nb.cells):
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            if html.startswith(f'<section class="{NOTHING}">'):
                del nb.cells[at + 1 :]
                cell.metadata["tags"] = [*cell.metadata.get("tags", ()), "remove-input"]
                return _text(html.replace("</p>", " "))
    return ""


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


@cache
def _exporter() -> HTMLExporter:
    config = Config()
    config.TagRemovePreprocessor.enabled = True
    config.TagRemovePreprocessor.remove_cell_tags = _HIDDEN_TAGS
    config.TagRemovePreprocessor.remove_input_tags = {"remove-input"}
    config.HTMLExporter.exclude_anchor_links = True
    config.NbConvertBase.display_data_priority = ["text/html", "text/markdown", "text/plain"]
    folder = {"extra_template_basedirs": [str(TEMPLATES.parent)], "template_name": TEMPLATES.name}
    exporter = HTMLExporter(config=config, **folder)
    exporter.register_filter("redact", lambda text: redact(text).text)
    return exporter


def anchored(html: str) -> tuple[str, list[Heading]]:
    """The HTML with an id and a link to itself on every heading, and the headings."""
    found: list[Heading] = []
    taken: set[str] = {"main", "index", "search-hits"}

    def anchor(match: re.Match[str]) -> str:
        level, inner = match[1], match[2]
        text = _text(inner)
        base = name = slug(text)
        n = 1
        while name in taken:
            n += 1
            name = f"{base}-{n}"
        taken.add(name)
        found.append(Heading(int(level), text, name))
        link = f'<a class="anchor" href="#{name}" aria-label="Link to this section">#</a>'
        return f'<h{level} id="{name}">{inner}{link}</h{level}>'

    return _HEADING.sub(anchor, html), found


def _text(html: str) -> str:
    """The plain text of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())
