"""What a study assumes: marks on estimates, and text from outside that does no harm."""

import re
from pathlib import Path

import polars as pl
import pytest

from analysis import paths
from analysis.estimates import cells
from analysis.estimates.estimate import Estimate
from analysis.findings.assumed import assumptions, is_reading, matches, reconstruction
from analysis.report.pages import Page, render
from analysis.study import REBUILT, Study
from tests.simulate import Truth

TABLE = """
reconstruction = "Written <b>after</b> the fact."

[[figure]]
key = "a"
value = 1
published = "P1"

[[figure]]
key = "spread"
why = "it was not published"
value = 1
low = 0
high = 2
values = ["pool.tokens boot=b1"]
intervals = ["pool.*", 3, ""]
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    folder = Truth(requests=10).write(tmp_path / "s")
    (folder / "study.toml").write_text(TABLE)
    return Study(folder)


def pool(boot: str) -> Estimate:
    return Estimate(1.0, "tokens", "census", "m").named("pool.tokens", "f", boot=boot)


def test_patterns() -> None:
    assert matches("pool.tokens boot=b1", pool("b1"))
    assert not matches("pool.tokens boot=b1", pool("b2"))
    assert matches("pool.*", pool("b2"))
    assert not matches("pool", pool("b2"))
    assert not matches("pool.tokens arm=x", pool("b2"))


def test_the_worst_part_is_said_once(study: Study) -> None:
    marks = assumptions(study.connection)
    assert [a.key for a in marks.all] == ["spread"]
    assert marks.of(pool("b1"))[0] == "values"
    assert marks.of(pool("b2"))[0] == "intervals"
    assert marks.of(Estimate(1.0, "1", "census", "m").named("finish.share", "f")) is None
    once = marks.mark(pool("b1"))
    assert once.warnings == ("rests on assumed figures (spread: see study.toml)",)
    assert marks.mark(once) == once
    assert study.known([pool("b1"), pool("b2")]) == [pool("b2")]


def test_what_a_notebook_shows_is_marked(study: Study) -> None:
    study.record(pool("b1"))
    assert study.estimates[0].warnings == ("rests on assumed figures (spread: see study.toml)",)
    shown = study.answer("f", "Said.", pool("b2")).html
    assert "its interval rests on assumed figures" in shown
    assert REBUILT in study.table(study.sql("select 1 as one"), "t", "A table").html


def test_a_table_records_and_marks_what_its_cells_show(study: Study) -> None:
    rows = cells.frame([("b1", pool("b1")), ("b2", pool("b2"))], {"boot": pl.String, "pool": pl.String})
    shown = study.table(rows, "pools", "Pools").html
    assert re.findall(r'aria-label="([^"]*)">(.)</span>', shown) == [
        ("rests on assumed figures", "†"), ("its interval rests on assumed figures", "‡"),
    ]  # fmt: skip
    study.table(rows, "pools", "Pools")
    assert study.estimates == [study.assumptions.mark(pool(boot)) for boot in ("b1", "b2")]
    unnamed = cells.frame([("b1", Estimate(1.0, "1", "census", "m"))], {"boot": pl.String, "pool": pl.String})
    with pytest.raises(ValueError, match="an estimate is recorded under an id"):
        study.table(unnamed, "pools", "Pools")


@pytest.mark.parametrize(
    ("pattern", "is_it"),
    [
        ("pools need-of-one-mib", True), ("pools need-of-one-mib boot=b-1 length=8192", True),
        ("pools need-of-one-mib boot=b1", False), ("pools need-of-one-mib host=x", False), ("pools boot", False),
        ("pool need-of-one-mib", False), ("pools", False), ("", False), ("pools need-of-one-mib boot", False),
    ],
)  # fmt: skip
def test_patterns_of_readings(pattern: str, is_it: bool) -> None:
    row = {"boot": "B 1", "need of one (MiB)": 3.5, "length": 8192}
    assert is_reading(pattern, "pools", "need of one (MiB)", row) is is_it


def test_the_banner_is_escaped(study: Study) -> None:
    page = Page("p", "P", "s", "<h1>P</h1>", ())
    html = render(page, [page], "study", reconstruction(study.connection))
    assert '<p class="banner about">Written &lt;b&gt;after&lt;/b&gt; the fact.</p>' in html
    assert "banner about" not in render(page, [page], "study").split("</style>")[1]


@pytest.mark.parametrize(
    "text", ["reconstruction = 3", 'figure = "x"', "[[figure]]\nwhy = 3", "[[figure]]\nvalues = 3", ""]
)
def test_odd_tables_do_no_harm(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    folder = Truth(requests=4, scrapes=2).write(tmp_path / "s")
    (folder / "study.toml").write_text(text)
    odd = Study(folder)
    assert odd.reconstruction == ""
    assert odd.assumptions.mark(pool("b1")) == pool("b1")
