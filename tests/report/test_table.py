"""Tables against a golden file, and their CSV."""

import csv
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings.assumed import Assumption, Assumptions
from analysis.report import table as tables
from analysis.report.answer import anchor
from analysis.report.marks import HEAD
from analysis.report.table import cell, grid, table, write_csv

GOLDEN = Path(__file__).parent / "golden"
FRAME = pl.DataFrame({
    "boot": ["boot-1", "<b>&\"'", "=cmd|' /C calc'!A0", None],
    "pool_tokens": [1_110_893, 0, None, 7],
    "share": [0.0812345678, 1.0, float("nan"), 12_345_678.9],
    "served": [True, False, None, True],
})  # fmt: skip


def same_as_golden(text: str, name: str) -> None:
    """Compare with tests/report/golden/<name>; on a difference leave <name>.got beside it."""
    golden = GOLDEN / name
    if not golden.exists() or golden.read_text() != text:
        (GOLDEN / f"{name}.got").write_text(text)
        raise AssertionError(f"differs from {golden}: see {name}.got beside it")


def test_the_table_is_as_it_was(tmp_path: Path) -> None:
    shown = table(FRAME, "boots", tmp_path, 'One row a boot; share of "request" seconds')
    same_as_golden(shown._repr_html_() + "\n", "table.html")
    same_as_golden((tmp_path / "tables/boots.csv").read_text(), "table.csv")


def test_an_empty_table_says_so_under_its_caption() -> None:
    html = table(FRAME.clear(), "boots", None, "One row a boot").html
    assert "<caption><span>One row a boot</span></caption>" in html
    assert '<tr><td class="none" colspan="4">none</td></tr>' in html


def test_an_estimate_has_the_digits_of_its_interval() -> None:
    rows = pl.DataFrame({"run": ["a", "b"], "value": [9.4812, 7.1234], "low": [5.2511, None], "high": [15.63, None]})
    html = table(rows, "shares", None, "x").html
    assert [f'<td class="number">{n}</td>' in html for n in ("9", "5", "16", "7.12", "—")] == [True] * 5


def test_numbers_as_printed_have_the_same_decimals_in_all_rows() -> None:
    html = table(pl.DataFrame({"a": [3.91, 2.0, 0.06, None], "b": [1.0, 2.5, 0.1234, None]}), "gib", None, "x").html
    assert [f'<td class="number">{n}</td>' in html for n in ("3.91", "2.00", "0.06", "1", "2.5", "0.123")] == [True] * 6


def test_short_texts_stay_in_one_line_and_long_ones_have_room() -> None:
    rows = pl.DataFrame({"a": ["A0-crash"], "b": ["w " * 30], "c": [None], "d": [1], "e": ["w " * 15]})
    html = table(rows, "t", None, "x").html
    assert '<th scope="col" class="short">a</th><th scope="col" class="long">b</th><th scope="col">c</th>' in html
    assert '<th scope="col" class="short text">e</th>' in html
    assert '<span class="hint many" aria-hidden="true">Scroll sideways' in html
    assert '<span class="hint" aria-hidden="true">Scroll sideways' in table(rows.drop("e"), "t", None, "x").html
    assert "Scroll sideways" not in table(rows.clear(), "t", None, "x").html


def test_no_file_without_a_folder() -> None:
    assert "href" not in table(FRAME, "boots", None, "x").html


@pytest.mark.parametrize("name", ["../x", "a/b", "", "A", "a..b", "x" * 90])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot name a figure or table"):
        table(FRAME, name, tmp_path, "x")
    assert list(tmp_path.rglob("*.csv")) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "—"), (0, "0"), (1_110_893, "1,110,893"), (0.0812345678, "0.0812"), (0.06, "0.06"), (0.0699999, "0.0700"),
     (921.031, "921"), (1605.75, "1,606"), (97.746, "97.7"), (2.0, "2"), (0.9996, "1.000"), (True, "yes"), ("a", "a"),
     (-2.5, "-2.5"),
     (3e9, "3,000,000,000"), (1e-9, "1e-09")],
)  # fmt: skip
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


SHARE = Estimate(0.41, "1", "estimate", "m", 0.38, 0.44).named("finish.share", "f", boot="b1", reason="<stop>")
BARE = no_interval(6.9 * 2**30, "bytes", "m", "one boot").named("pool.available", "f", boot="b2")
NONE = not_computable("tokens", "the log has 2 lines").named("pool.tokens", "f", boot="b2")
SHOWN = cells.frame(
    [("a", SHARE, *cells.ends(SHARE, 100).values(), None, 1), ("b", BARE, None, None, None, None, 2),
     ("c", NONE, *cells.ends(NONE).values(), cells.reason(NONE), 3)],
    {"run": pl.String, "share": pl.String, **dict.fromkeys(("value", "low", "high"), pl.Float64), "why": pl.String,
     "read": pl.Int64},
)  # fmt: skip


def rests(**reaches: str) -> Assumptions:
    """One assumed figure that reaches these estimates (or readings), by part."""
    parts = {part: (pattern,) for part, pattern in reaches.items() if part in ("values", "intervals", "wording")}
    return Assumptions((Assumption("drift", "not published", parts, (reaches.get("readings", ""),)),))


def test_a_figure_leads_to_how_it_was_obtained_and_its_reason_stands_beside_it(tmp_path: Path) -> None:
    html = table(SHOWN, "shown", tmp_path, "x").html
    place = "numbers.html#n-finish-share-boot-b1-reason-stop-e72b8d"
    assert (
        f'<a href="{place}" aria-label="41.0 % [38.0, 44.0], how it was obtained">41.0 % [38.0, 44.0]</a></td>' in html
    )
    assert f'<td class="number"><a href="{place}" aria-label="41.0, how it was obtained">41.0</a></td>' in html
    assert '<td class="number">38.0</td><td class="number">44.0</td>' in html
    assert 'aria-label="6.9 GiB, how it was obtained">6.9 GiB</a> (no interval: one boot)</td>' in html
    assert 'aria-label="not computable, why there is none">not computable</a>: the log has 2 lines</td>' in html
    assert 'aria-label="—, why there is none">—</a></td>' in html
    assert html.count("<a href=") == 1 + 5 and anchor(SHARE) in place  # one more is the CSV
    assert "href" not in table(SHOWN, "shown", None, "x").html


@pytest.mark.parametrize(
    ("reaches", "signs", "words"),
    [
        ({"values": "finish.share"}, {0: ["share†", "value†", "low†", "high†"]}, "share; value; low; high"),
        ({"intervals": "finish.share boot=b1"}, {0: ["share‡", "low‡", "high‡"]},
         "share (its interval); low (its interval); high (its interval)"),
        ({"wording": "pool.*"}, {1: ["share§"], 2: ["share§", "why§"]}, "share (numbers in its reason)"),
        ({"readings": "shown read run=c"}, {2: ["read†"]}, "read"),
        ({"values": "finish.share boot=b2"}, {}, ""),
    ],
)  # fmt: skip
def test_what_rests_on_assumed_figures_is_marked(
    reaches: dict[str, str], signs: dict[int, list[str]], words: str, tmp_path: Path
) -> None:
    html = table(SHOWN, "shown", tmp_path, "x", rests(**reaches)).html
    body = html.split("<tbody>")[1].split("</tbody>")[0].strip().split("</tr>\n")
    found = {}
    for at, row in enumerate(body):
        contents = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
        marked = [(c, m[1]) for c, text in zip(SHOWN.columns, contents, strict=False)
                  if (m := re.search(r'<span class="mark"[^>]*>(.)</span>', text))]  # fmt: skip
        if marked:
            found[at] = [f"{column}{sign}" for column, sign in marked]
    assert found == signs
    assert ('<p class="marks">' in html) == bool(signs)
    rows = list(csv.DictReader((tmp_path / "tables/shown.csv").open()))
    assert [at for at, row in enumerate(rows) if row.get(HEAD)] == list(signs)
    if signs:
        assert rows[min(signs)][HEAD] == words
        sign, key = signs[min(signs)][0][-1], "drift"
        assert f"{sign} " in html.split('<p class="marks">')[1] and f"Assumed: {key} (study.toml)." in html
        assert rows[0]["share"] == "41.0 % [38.0, 44.0]" + ("" if 0 not in signs else signs[0][0][-1])


def test_a_mark_is_told_to_those_who_do_not_see_it() -> None:
    linked = grid(SHOWN, "shown", "x", rests(values="finish.share"), linked=True)
    assert 'aria-label="41.0 % [38.0, 44.0], how it was obtained; rests on assumed figures">' in linked
    assert '38.0<span class="mark" role="img" title="rests on assumed figures" aria-label="rests on assumed' in linked


def test_a_long_text_is_folded_at_a_word_and_loses_nothing() -> None:
    text = "not computable: <the> outputs were not judged, and that one parses does not say that it is a valid record"
    html = table(pl.DataFrame({"a": ["x"], "b": [text]}), "t", None, "x").html
    [(first, rest)] = re.findall(r'<details class="fold"><summary>(.*?)</summary>(.*?)</details>', html)
    assert unescape(first) == "not computable: <the> outputs were not judged, and that "
    assert unescape(first + rest) == text
    assert "fold" not in table(pl.DataFrame({"a": ["x"], "b": [text[:80]]}), "t", None, "x").html


def test_a_very_long_table_is_cut_in_the_page_and_whole_in_its_file(tmp_path: Path) -> None:
    made = table(pl.DataFrame({"n": range(1200)}), "long", tmp_path, "One row a number")
    assert (made.html.count("<tr>"), '<td class="number">999</td>' in made.html) == (1001, True)
    assert '<p class="marks">The first 1,000 of 1,200 rows; the CSV has all.</p>' in made.html
    assert len((tmp_path / "tables" / "long.csv").read_text().splitlines()) == 1201
    assert "The first 1,000 of 1,200 rows.<" in grid(pl.DataFrame({"n": range(1200)}), "x", "c")


def test_the_marks_of_a_long_table_are_gone_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(tables, "any", lambda marks: asked.append(marks) or any(marks), raising=False)
    path = write_csv(pl.DataFrame({"n": range(3000)}), "long", tmp_path)
    assert len(asked) == 1
    assert len(path.read_text().splitlines()) == 3001
