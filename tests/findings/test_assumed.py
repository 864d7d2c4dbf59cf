"""What a study assumes: marks on estimates, and text from outside that does no harm."""

from pathlib import Path

import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings.assumed import assumptions, matches, reconstruction
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
