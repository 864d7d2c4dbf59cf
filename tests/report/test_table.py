"""Tables against a golden file, and their CSV."""

from pathlib import Path

import polars as pl
import pytest

from analysis.report.table import cell, table

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
    rows = pl.DataFrame({"a": ["A0-crash"], "b": ["w " * 30], "c": [None], "d": [1], "e": ["x"]})
    html = table(rows, "t", None, "x").html
    assert '<th scope="col" class="short">a</th><th scope="col" class="long">b</th><th scope="col">c</th>' in html
    assert "Scroll sideways" in html and "Scroll sideways" not in table(rows.drop("e"), "t", None, "x").html


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
