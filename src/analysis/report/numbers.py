"""The page of all numbers: each with its interval, how it was obtained, and the lines that it came from."""

from itertools import groupby

from analysis.estimates.estimate import Estimate
from analysis.report.answer import number_block
from analysis.report.labels import LABELS
from analysis.report.names import NUMBERS, slug
from analysis.report.pages import Heading, Page
from analysis.report.results import Results

TITLE = "All numbers"
SUMMARY = "Every number of the report: its interval, method and assumption, and the lines and series that it came from."


def numbers_page(results: Results) -> Page:
    """Every estimate of results.json under its anchor, by what it is; those that could not be computed too."""
    sections, toc = [], []
    for id, group in groupby(results.estimates(), key=lambda estimate: estimate.id):
        heading = Heading(2, _title(id), slug("all", id))
        toc.append(heading)
        sections.append(_section(heading, list(group)))
    intro = f"<h1>{TITLE}</h1><p>{SUMMARY} The same is in results.json, for programs.</p>"
    return Page(NUMBERS, TITLE, SUMMARY, intro + "".join(sections), tuple(toc))


def _title(id: str) -> str:
    words = LABELS.get(id, id)
    return words[:1].upper() + words[1:]


def _section(heading: Heading, estimates: list[Estimate]) -> str:
    blocks = "".join(number_block(estimate) for estimate in estimates)
    return f'<h2 id="{heading.anchor}">{heading.text}</h2>{blocks}'
