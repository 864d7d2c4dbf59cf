"""Rows and columns come into the store alike, few or many."""

import duckdb
import polars as pl
import pytest

from analysis import paths
from analysis.store.rows import AT_ONCE, FEW_ROWS, Rows


@pytest.mark.parametrize("count", [1, FEW_ROWS, FEW_ROWS + 1, AT_ONCE * 2 + 1])
@pytest.mark.parametrize("as_columns", [False, True])
def test_rows_and_columns_become_the_same_table(count: int, as_columns: bool) -> None:
    rows = [
        {
            "run": "r#1",
            "file": "r",
            "ordinal": n,
            "clock": "none",
            "status": "ok",
            "itl_s": [0.5, n / 4] if n % 2 else None,
        }
        for n in range(count)
    ]
    with duckdb.connect() as connection:
        connection.execute(paths.SCHEMA.read_text())
        connection.begin()
        store = Rows(connection)
        store.add(
            "requests", pl.DataFrame(rows, schema_overrides={"itl_s": pl.List(pl.Float64)}) if as_columns else rows
        )
        store.flush()
        found = connection.sql("select run, ordinal, itl_s, error from requests order by ordinal").fetchall()
    assert found == [("r#1", n, [0.5, n / 4] if n % 2 else None, None) for n in range(count)]
