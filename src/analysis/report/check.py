"""Is a finished report fit to be shared? Every text in it is read again, and every page for what it would run."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from analysis.redact import redact
from analysis.report.errors import ReportError
from analysis.report.made_from import MADE_FROM
from analysis.report.offline import loads
from analysis.report.search_index import index_in

KINDS = {".html", ".svg", ".json", ".csv", ".js", ".png", ".md"}
"""What a report is made of. Anything else in its folder does not belong there."""
OURS = "figures.js"
"""Our script with the libraries that it needs: the same in every report, and no text of a study in it."""
_SHOWN_ATTRIBUTES = {"aria-label", "title", "alt", "content", "placeholder", "value"}
_DIGESTS = {"place", "data_sha256", "code_sha256"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and in which file of the report."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def problems(report: Path) -> list[Problem]:
    """What should not be shared in this report folder: texts that redaction would change, scripts, strange files.

    What was found is named by its kind and never repeated. Raises ReportError for a folder without a report.
    """
    if not (report / "results.json").is_file():
        raise ReportError(f"{report} holds no report: make one first, make report DATA=...")
    found = []
    for path in sorted(p for p in report.rglob("*") if p.is_file() or p.is_symlink()):
        name = path.relative_to(report).as_posix()
        if path.is_symlink() or path.suffix not in KINDS:
            found.append(Problem(name, "does not belong to a report: take it away"))
        elif path.suffix != ".png" and path.name != OURS:
            found += [Problem(name, what) for what in _of_file(path)]
    return found


def _of_file(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8", errors="replace")
    counts: dict[str, int] = {}
    for part in dict.fromkeys(_texts(path, text)):
        for kind, n in redact(part).kinds.items():
            counts[kind] = counts.get(kind, 0) + n
    for kind, n in sorted(counts.items()):
        yield f"{kind} ({n}): make the report again without --no-redact"
    if path.suffix in (".html", ".svg"):
        yield from (f"would run or fetch {what}" for what in loads(text))
    if path.suffix == ".html" and "Content-Security-Policy" not in text:
        yield "has no Content-Security-Policy"


def _texts(path: Path, text: str) -> Iterator[str]:
    """Every text that a file shows or holds, cell by cell and node by node."""
    if path.suffix in (".html", ".svg"):
        reader = _Shown()
        reader.feed(text)
        reader.close()
        yield from reader.texts
    elif path.suffix == ".csv":
        yield from (cell for row in csv.reader(text.splitlines()) for cell in row)
    elif path.name == MADE_FROM:  # digests, of our own making
        yield from json.loads(text)["notebooks"]
    elif path.suffix == ".json":
        yield from _strings(json.loads(text))
    elif path.suffix == ".js":
        yield from _strings(index_in(text))
    else:
        yield from text.splitlines()


def _strings(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key not in _DIGESTS:
            yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from _strings(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part, key)


class _Shown(HTMLParser):
    """The texts of a page: its text nodes, its attributes that are read out, and the data of its charts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside.append("data" if ("type", "application/json") in attrs else tag)
        digest = tag == "code" and dict(attrs).get("title")
        self.texts += [value for name, value in attrs if value and name in _SHOWN_ATTRIBUTES and not digest]

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        here = self._inside[-1] if self._inside else ""
        if here == "data":
            self.texts += _strings(json.loads(data))
        elif here not in ("script", "style"):
            self.texts += data.splitlines()
