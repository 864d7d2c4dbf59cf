"""Rows on their way into the store: kept until they are many, inserted at once."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from analysis.sources.prometheus_scrapes import Scrape
from analysis.sources.reading import Row

TYPES: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE[]": pa.list_(pa.float64()),
    "BIGINT[]": pa.list_(pa.int64()),
}
FEW_ROWS = 200
"""Columns of so few rows wait as rows: to insert them alone takes longer."""
AT_ONCE = 500
"""Rows that are looked through together, so that they are still in the processor's cache."""
MOST_ROWS = 20_000
MOST_SAMPLES = 1 << 20


class Rows:
    """Rows for the tables of an open store; nothing is there for certain before `flush`.

    They come in the store's transaction; many rows end it and begin another.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.kinds = self._kinds()
        self.samples = 0
        """Samples handed over so far."""
        self._waiting: dict[str, list[Row]] = {}
        self._scrapes: list[tuple[int, Scrape]] = []
        self._held = 0
        self._open_rows = 0

    def add(self, table: str, rows: list[Row] | pl.DataFrame) -> None:
        """Rows with the table's column names; a column that is missing is null."""
        self.samples += len(rows) if table == "samples" else 0
        if isinstance(rows, pl.DataFrame) and rows.height <= FEW_ROWS:
            rows = rows.to_dicts()
        if isinstance(rows, pl.DataFrame):
            self._insert(table, rows.to_arrow())
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
        self._insert(table, table_of(rows, self.kinds[table]))

    def _flush_scrapes(self) -> None:
        if not self._scrapes:
            return
        scrapes = [scrape for _, scrape in self._scrapes]
        pages = np.array([page for page, _ in self._scrapes], "i4")
        columns = (
            {"page": np.repeat(pages, [len(scrape.values) for scrape in scrapes]),
             "series": np.concatenate([scrape.layout.series for scrape in scrapes]),
             "line": np.concatenate([scrape.lines for scrape in scrapes]),
             "value": np.concatenate([scrape.values for scrape in scrapes])}
        )  # fmt: skip
        self._scrapes, self._held = [], 0
        self._insert("samples", pa.table(columns))

    def _insert(self, table: str, columns: pa.Table) -> None:
        self.connection.register("incoming", columns)
        self.connection.execute(f"insert into {table} by name select * from incoming")
        self.connection.unregister("incoming")
        self._open_rows += columns.num_rows
        if self._open_rows > MOST_SAMPLES:
            # What was registered is held until its transaction ends: in one for all, memory grows with the samples.
            self.connection.commit()
            self.connection.begin()
            self._open_rows = 0

    def _kinds(self) -> dict[str, dict[str, pa.DataType]]:
        rows = self.connection.sql(
            "select table_name, column_name, data_type from duckdb_columns() where not internal"
        ).fetchall()
        kinds: dict[str, dict[str, pa.DataType]] = {}
        for table, column, data_type in rows:
            kinds.setdefault(table, {})[column] = TYPES[data_type]
        return kinds


def table_of(rows: list[Row], kinds: dict[str, pa.DataType]) -> pa.Table:
    """Rows as columns of these types; what a row lacks is null."""
    columns: dict[str, list[Any]] = {name: [] for name in kinds}
    for start in range(0, len(rows), AT_ONCE):
        few = rows[start : start + AT_ONCE]
        for name, column in columns.items():
            column += [row.get(name) for row in few]
    return pa.table({name: _column(columns[name], kind) for name, kind in kinds.items()})


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except pa.ArrowInvalid:
        if kind != pa.float64():
            raise
        # A whole number that a double holds only rounded.
        return pa.array([None if value is None else float(value) for value in values], kind)
