"""What the search within a report finds: pages, sections, what to do, figures, tables and numbers."""

import json
import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

from analysis.estimates.rounding import show
from analysis.report.answer import anchor
from analysis.report.everyday import WORDS
from analysis.report.labels import label
from analysis.report.names import NUMBERS
from analysis.report.pages import Page
from analysis.report.results import Results

ASSETS = Path(__file__).parent / "assets"
START, END = "window.REPORT = ", ";\n"
"""Around the index in the script."""
_FIGURE = re.compile(r'<figure id="(fig-[^"]+)">.*?<p class="title">(.*?)</p><p class="subtitle">(.*?)</p>', re.S)
_TABLE = re.compile(r'<div class="table" id="(table-[^"]+)">.*?<caption><span>(.*?)</span>', re.S)
Row = dict[str, str]


def search_script(pages: Sequence[Page], results: Results) -> str:
    """The index, the script that searches it, and the one that opens folds. All texts are redacted already."""
    rows = [row for page in pages for row in _of_page(page)]
    titles = {page.stem: page.title for page in pages}
    rows += [
        _row("what to do", step, row["sentence"], titles[row["page"]], f"{row['page']}.html")
        for row in results.json["takeaways"]
        if (step := row.get("next_step"))
    ]
    rows += [
        _row("number", label(e), show(e), e.id, f"{NUMBERS}.html#{anchor(e)}") for e in results.estimates()
    ]  # fmt: skip
    return with_index(rows)


def with_index(rows: Sequence[Row]) -> str:
    """The scripts of a page with these rows to be found."""
    index = json.dumps(rows, ensure_ascii=True, separators=(",", ":"))
    scripts = "".join((ASSETS / name).read_text(encoding="utf-8") for name in ("search.js", "folds.js"))
    return f"{START}{index}{END}{scripts}"


def index_in(script: str) -> list[Row]:
    """The rows that can be found by a script that search_script made."""
    rows: list[Row] = json.loads(script.removeprefix(START).partition(END)[0])
    return rows


def _of_page(page: Page) -> Iterator[Row]:
    place = f"{page.stem}.html"
    yield _row("page", page.title, page.nothing or page.summary, "", place)
    for heading in page.toc if page.stem != NUMBERS else ():
        yield _row("section", heading.text, "", page.title, f"{place}#{heading.anchor}")
    for name, title, subtitle in _FIGURE.findall(page.body):
        yield _row("figure", unescape(title), unescape(subtitle), page.title, f"{place}#{name}")
    for name, caption in _TABLE.findall(page.body):
        yield _row("table", unescape(caption), "", page.title, f"{place}#{name}")


def _row(kind: str, title: str, text: str, page: str, href: str) -> Row:
    words = WORDS.get(href.replace(".html", ""), "")
    return {"kind": kind, "title": title, "text": text, "page": page, "href": href} | (
        {"words": words} if words else {}
    )
