"""Executed notebooks as pages: the HTML between a page's header and its footer, with anchors and contents."""

import re
from functools import cache
from html import unescape
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from analysis.redact import redact
from analysis.report.answer import NOTHING
from analysis.report.names import slug
from analysis.report.pages import TEMPLATES, Heading, Page

_HIDDEN_TAGS = {"remove-cell", "parameters", "injected-parameters"}
_HEADING = re.compile(r"<h([1-4])>(.*?)</h\1>", re.S)


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


def warm_up() -> None:
    """Convert a notebook of a few words: what that sets up, templates and expressions, later ones have behind them."""
    shown = new_output("display_data", {"text/html": "<p>1</p>"})
    cells = [new_markdown_cell("# A"), new_code_cell("1 + 1", outputs=[shown])]
    _exporter().from_notebook_node(new_notebook(cells=cells))


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
