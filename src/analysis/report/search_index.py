"""What the search within a report finds: pages, sections, figures, tables and numbers."""

import json
import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

from analysis.estimates.rounding import show
from analysis.report.answer import anchor
from analysis.report.labels import label
from analysis.report.names import NUMBERS
from analysis.report.pages import Page
from analysis.report.results import Results

SCRIPT = Path(__file__).parent / "assets" / "search.js"
_FIGURE = re.compile(r'<figure id="(fig-[^"]+)">.*?<p class="title">(.*?)</p><p class="subtitle">(.*?)</p>', re.S)
_TABLE = re.compile(r'<div class="table" id="(table-[^"]+)">.*?<caption><span>(.*?)</span>', re.S)
Row = dict[str, str]


def search_script(pages: Sequence[Page], results: Results) -> str:
    """assets/search.js: the index, then the script that searches it. All texts are redacted already."""
    rows = [row for page in pages for row in _of_page(page)]
    rows += [
        {"kind": "number", "title": label(e), "text": show(e), "page": e.id, "href": f"{NUMBERS}.html#{anchor(e)}"}
        for e in results.estimates()
    ]
    index = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    return f"window.REPORT = {index};\n{SCRIPT.read_text(encoding='utf-8')}"


def _of_page(page: Page) -> Iterator[Row]:
    place = f"{page.stem}.html"
    yield {"kind": "page", "title": page.title, "text": page.summary, "page": "", "href": place}
    for heading in page.toc if page.stem != NUMBERS else ():
        yield {
            "kind": "section", "title": heading.text, "text": "", "page": page.title,
            "href": f"{place}#{heading.anchor}",
        }  # fmt: skip
    for name, title, subtitle in _FIGURE.findall(page.body):
        yield {
            "kind": "figure", "title": unescape(title), "text": unescape(subtitle), "page": page.title,
            "href": f"{place}#{name}",
        }  # fmt: skip
    for name, caption in _TABLE.findall(page.body):
        yield {
            "kind": "table", "title": unescape(caption), "text": "", "page": page.title, "href": f"{place}#{name}"
        }  # fmt: skip
