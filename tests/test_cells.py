"""Every cell of every table: what rests on an assumed figure of data/cluster-a is marked, as the pages have it."""

import random
import re
import shutil
from collections.abc import Iterator
from html import unescape
from math import isclose
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis import paths
from analysis.estimates.cells import Shown, split
from analysis.findings.assumed import Assumptions
from analysis.reconstruct import cluster_a, figures
from analysis.report import marks
from analysis.report.table import grid
from tests.shown import tables

STUDY = paths.DATA / "cluster-a"
Tables = dict[tuple[str, str], pl.DataFrame]
SIGNS = {"values": "†", "intervals": "‡", "wording": "§"}
PARTS = {"figure": SIGNS, "value": ["values"], "input": ["values"], "end": ["values", "intervals"], "reason": SIGNS}


def made(table: figures.Figures, folder: Path, patch: pytest.MonkeyPatch) -> tuple[Assumptions, Tables]:
    """What all pages show of the study as the table of figures has it."""
    patch.setattr(paths, "STORES", folder / "stores")
    study = folder / "cluster-a"
    cluster_a.write(table, study)
    for name in ("study.toml", "published.toml"):
        shutil.copy(STUDY / name, study / name)
    found: Tables = {}
    for page, its, shown in tables(study, patch):
        assumed = its.assumptions
        found |= {(page, name): frame for name, frame in shown.items()}
    return assumed, found


@pytest.fixture(scope="module")
def as_assumed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Assumptions, Tables]]:
    with pytest.MonkeyPatch.context() as patch:
        yield made(figures.read(STUDY), tmp_path_factory.mktemp("as-assumed"), patch)


@pytest.mark.parametrize("corner", ["low", "high", 1, 2])
def test_no_cell_moves_with_an_assumed_figure_and_is_not_marked(
    corner: str | int, as_assumed: tuple[Assumptions, Tables], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All assumed figures at the ends of their ranges: whatever a reader sees move says that it rests on them."""
    table, dice = figures.read(STUDY), random.Random(corner)
    ends = {f.key: (f.low if corner == "low" or (corner != "high" and dice.random() < 0.5) else f.high)
            for f in table.assumed()}  # fmt: skip
    assumed, before = as_assumed
    _, after = made(table.with_assumed(**ends), tmp_path, monkeypatch)
    assert set(before) == set(after) and len(before) > 70
    moved = [(place, *cell) for place in before for cell in unmarked(before[place], after[place], place[1], assumed)]
    assert moved == []


def unmarked(one: pl.DataFrame, other: pl.DataFrame, name: str, assumed: Assumptions) -> list[tuple[Any, ...]]:
    """The cells of a table that differ in another one and have no mark."""
    (rows, cells), (others, _) = split(one), split(other)
    assert rows.columns == others.columns
    signs = marks.of_rows(rows.iter_rows(named=True), cells, name, assumed)
    return [
        (at, column, row[column], changed[column])
        for at, (row, changed) in enumerate(zip(rows.iter_rows(named=True), others.iter_rows(named=True), strict=False))
        for column in row
        if not same(row[column], changed[column]) and not signs[at].get(column)
    ]


def same(a: Any, b: Any) -> bool:
    """Times are written in milliseconds, so the fourth digit says nothing."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and isclose(a, b, rel_tol=1e-4))


def test_a_page_marks_the_cells_that_rest_on_assumed_figures_and_no_others(
    as_assumed: tuple[Assumptions, Tables],
) -> None:
    """Recomputed cell by cell from study.toml, and held against the HTML."""
    assumed, found = as_assumed
    count = {page[:2]: 0 for page, _ in found}
    for (page, name), frame in found.items():
        shown = contents(grid(frame, name, "x", assumed, linked=True))
        rows, cells = split(frame)
        want = [[sign(name, column, row, of.get(column), assumed) for column in row]
                for row, of in zip(rows.iter_rows(named=True), cells, strict=True)]  # fmt: skip
        got = [["".join(re.findall(r'class="mark"[^>]*>(.)<', text)) for text in row] for row in shown]
        assert got == want, (page, name)
        count[page[:2]] += sum(map(bool, (s for row in want for s in row)))
    assert {page: n for page, n in count.items() if n} == MARKED


MARKED = {"10": 6, "20": 112, "25": 13, "30": 9, "40": 12, "50": 6, "80": 1, "90": 5}
"""Marked cells of all tables by page; 112 are of the scrape intervals of a reconstructed load."""


def contents(html: str) -> list[list[str]]:
    """What the cells of a table hold, row by row; none of a table that says "none"."""
    body = html.split("<tbody>\n")[1].split("</tbody>")[0]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in body.split("</tr>\n")[:-1]]
    return [] if 'class="none"' in body else rows


def sign(name: str, column: str, row: dict[str, Any], cell: Shown | None, assumed: Assumptions) -> str:
    """The sign that a cell must have."""
    found = None if cell is None else assumed.of(cell.estimate)
    if cell is not None and found is not None and found[0] in PARTS[cell.part]:
        has_number = cell.part == "end" or any(ch.isdigit() for ch in str(cell.content))
        return SIGNS[found[0]] if has_number else ""
    return "†" if assumed.of_reading(name, column, row) else ""


def test_a_cell_that_shows_an_estimate_says_so_and_leads_to_it(as_assumed: tuple[Assumptions, Tables]) -> None:
    for (page, name), frame in as_assumed[1].items():
        rows, cells = split(frame)
        shown = contents(grid(frame, name, "x", linked=True))
        for row, of, texts in zip(rows.iter_rows(named=True), cells, shown, strict=True):
            linked = [column for column, text in zip(row, texts, strict=True) if 'href="numbers.html#n-' in text]
            assert linked == [c for c in row if c in of and of[c].part in ("figure", "value")], (page, name)
            assert all("how it was obtained" in unescape(t) or "why there is none" in t for t in texts if "href" in t)
