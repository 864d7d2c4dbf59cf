"""Rows on their way into the store: kept until they are many, inserted at once."""

from typing import Any

import duckdb
import numpy as np
import polars as pl

from analysis.sources.prometheus_scrapes import Scrape
from analysis.sources.reading import Row

POLARS_TYPES: dict[str, Any] = {
    "VARCHAR": pl.String,
    "BIGINT": pl.Int64,
    "INTEGER": pl.Int32,
    "DOUBLE": pl.Float64,
    "BOOLEAN": pl.Boolean,
    "DOUBLE[]": pl.List(pl.Float64),
    "BIGINT[]": pl.List(pl.Int64),
}
MOST_ROWS = 20_000
MOST_SAMPLES = 1 << 20


class Rows:
    """Rows for the tables of an open store; nothing is there for certain before `flush`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.columns = self._columns()
        self.samples = 0
        """Samples handed over so far."""
        self._waiting: dict[str, list[Row]] = {}
        self._scrapes: list[tuple[int, Scrape]] = []
        self._held = 0

    def add(self, table: str, rows: list[Row] | pl.DataFrame) -> None:
        """Rows with the table's column names; a column that is missing is null."""
        if isinstance(rows, pl.DataFrame):
            self.samples += rows.height if table == "samples" else 0
            self._insert(table, rows)
        elif rows:
            waiting = self._waiting.setdefault(table, [])
            waiting += rows
            if len(waiting) > MOST_ROWS:
                self._flush(table)

    def add_scrape(self, page: int, scrape: Scrape) -> None:
        """The samples of a plain page, whose series have their numbers already."""
        self._scrapes.append((page, scrape))
        self._held += len(scrape.values)
        self.samples += len(scrape.values)
        if self._held > MOST_SAMPLES:
            self._flush_scrapes()

    def flush(self) -> None:
        """Insert what waits."""
        self._flush_scrapes()
        for table in list(self._waiting):
            self._flush(table)

    def _flush(self, table: str) -> None:
        rows = self._waiting.pop(table)
        self._insert(table, pl.DataFrame(rows, schema=self.columns[table]))

    def _flush_scrapes(self) -> None:
        if not self._scrapes:
            return
        scrapes = [scrape for _, scrape in self._scrapes]
        pages = np.array([page for page, _ in self._scrapes], "i4")
        frame = pl.DataFrame(
            {"page": np.repeat(pages, [len(scrape.values) for scrape in scrapes]),
             "series": np.concatenate([scrape.layout.series for scrape in scrapes]),
             "line": np.concatenate([scrape.lines for scrape in scrapes]),
             "value": np.concatenate([scrape.values for scrape in scrapes])}
        )  # fmt: skip
        self._scrapes, self._held = [], 0
        self._insert("samples", frame)

    def _insert(self, table: str, frame: pl.DataFrame) -> None:
        self.connection.register("incoming", frame.to_arrow())
        self.connection.execute(f"insert into {table} by name select * from incoming")
        self.connection.unregister("incoming")

    def _columns(self) -> dict[str, dict[str, Any]]:
        rows = self.connection.sql(
            "select table_name, column_name, data_type from duckdb_columns() where not internal"
        ).fetchall()
        columns: dict[str, dict[str, Any]] = {}
        for table, column, data_type in rows:
            columns.setdefault(table, {})[column] = POLARS_TYPES[data_type]
        return columns
