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


def test_no_file_without_a_folder() -> None:
    assert "href" not in table(FRAME, "boots", None, "x").html


@pytest.mark.parametrize("name", ["../x", "a/b", "", "A", "a..b", "x" * 90])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot name a figure or table"):
        table(FRAME, name, tmp_path, "x")
    assert list(tmp_path.rglob("*.csv")) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "—"), (0, "0"), (1_110_893, "1,110,893"), (0.0812345678, "0.0812346"), (True, "yes"), ("a", "a"),
     (-2.5, "-2.5"),
     (3e9, "3,000,000,000"), (1e-9, "1e-09")],
)  # fmt: skip
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text
