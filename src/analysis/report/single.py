"""A finished report as one HTML file: all pages, drawings and scripts in it, nothing beside it.

Made from the report's own pages, so that it says what they say. Each page becomes a section with its contents; its ids
get the page's name before them, and links between pages, and of the search, become links within the file. The search
looks up the numbers on the page of all numbers, so that they are not in the file twice. The files to download (SVG,
PNG, CSV, results.json) stay with the report.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.report.answer import NOTHING
from analysis.report.errors import ReportError
from analysis.report.interactive import FIGURES
from analysis.report.pages import SCRIPTS, TEMPLATES
from analysis.report.search_index import index_in, with_index

_MAIN = re.compile(r'<main id="main"[^>]*>(.*?)</main>', re.S)
_CONTENTS = re.compile(r'<nav class="toc".*?(<ul>.*?</ul>)</nav>', re.S)
_TITLE = re.compile(r"<title>(.*?)</title>", re.S)
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)
_BANNER = re.compile(r'<p class="banner.*?</p>', re.S)
_PAGES = re.compile(r'<li><a href="([\w.-]+)\.html"')
_SEARCH = SCRIPTS[0]
_MARK, _HEAD = b'<meta name="generator" content="analysis single">', 1 << 16
_FILES = re.compile(r'<a\b[^>]* href="(?:figures|tables)/[^"]*"[^>]*>[^<]*</a> ?|<a href="results\.json">([^<]*)</a>')
"""Links to files, whatever the order of their attributes: notebooks are cleaned on their way to a page."""


@dataclass(frozen=True, slots=True)
class Section:
    """One page of the report, within the file."""

    name: str
    title: Markup
    body: Markup
    contents: Markup

    @property
    def is_empty(self) -> bool:
        """Whether the study has nothing for the page."""
        return f'class="{NOTHING}"' in self.body


def check_place(file: Path) -> None:
    """Raise ReportError for a place that holds anything but an earlier file of this kind."""
    if not file.exists() and not file.is_symlink():
        return
    if file.is_symlink() or not file.is_file() or _MARK not in file.read_bytes()[:_HEAD]:
        raise ReportError(f"{file} is there and is no report in one file: move it away, or choose another name")


def single(report: Path) -> str:
    """The HTML of one file with all pages of the report in this folder, index first.

    Raises ReportError when the folder holds no report.
    """
    if not (report / "results.json").is_file() or not (report / "index.html").is_file():
        raise ReportError(f"{report} holds no report: make one first, make report DATA=...")
    index = (report / "index.html").read_text(encoding="utf-8")
    names = list(dict.fromkeys(["index", *_PAGES.findall(index)]))
    sections = [_section(name, (report / f"{name}.html").read_text(encoding="utf-8"), names) for name in names]
    script = _script(report, names)
    template = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    return template.get_template("single.html.j2").render(
        title=sections[0].title, sections=sections, style=Markup(_found(_STYLE, index)), script=Markup(script),
        banners=Markup("".join(_BANNER.findall(index))),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )  # fmt: skip


def _script(report: Path, names: list[str]) -> str:
    """The scripts of a page, fit to stand inside a script element: search first, which needs nothing of the others."""
    found = index_in((report / _SEARCH).read_text(encoding="utf-8"))
    rows = [{**row, "href": _within(row["href"], names)} for row in found if row["kind"] != "number"]
    text = with_index(rows) + (report / "assets" / FIGURES).read_text(encoding="utf-8")
    return re.sub(r"</(script)", r"<\\/\1", text, flags=re.I).replace("<!--", "<\\!--")


def _section(name: str, html: str, names: list[str]) -> Section:
    body = _inside(_FILES.sub(lambda match: match[1] or "", _found(_MAIN, html)), name, names)
    contents = _inside(match[1], name, names) if (match := _CONTENTS.search(html)) else ""
    return Section(name, Markup(_found(_TITLE, html).rsplit(" – ", 1)[0].strip()), Markup(body), Markup(contents))


def _inside(html: str, name: str, names: list[str]) -> str:
    """A part of a page with its ids and links as they are within the file."""
    html = re.sub(r'(\s)id="([^"]+)"', rf'\1id="{name}--\2"', html)
    html = re.sub(r'(url\(#|(?:xlink:)?href="#)', rf"\g<1>{name}--", html)
    return re.sub(r'href="([^"#]+\.html[^"]*)"', lambda match: f'href="{_within(match[1], names)}"', html)


def _within(link: str, names: list[str]) -> str:
    """A link from page to page as one within the file; any other as it is."""
    page, _, anchor = link.partition("#")
    name = page.removesuffix(".html")
    return f"#{name}--{anchor or 'main'}" if name in names else link


def _found(pattern: re.Pattern[str], html: str) -> str:
    match = pattern.search(html)
    if match is None:
        raise ReportError("a page of this report is not complete: make the report again")
    return match[1]
