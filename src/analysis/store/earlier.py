"""The store of an earlier state of a study: what its unchanged files said need not be read again."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import polars as pl

from analysis.sources.files import SourceFile
from analysis.sources.prometheus_words import Words, instance_of
from analysis.sources.reading import Row
from analysis.sources.registry import reader_of
from analysis.store import fingerprint

KEPT = ("read", "partial", "unrecognised", "skipped")
"""What became of files that need no second look; one that could not be opened may be readable now."""
LOGS = "boot_log"


class Earlier:
    """An attached store, and which of the study's files it still speaks for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, files: list[SourceFile]) -> None:
        self.connection = connection
        rows = connection.sql(
            f"select * from earlier.files where status in {KEPT} order by rowid"
        ).pl().to_dicts()  # fmt: skip
        known = {row["file"]: row for row in rows}
        self.rows: dict[str, Row] = {
            file.path: known[file.path] for file in files if file.path in known and _is_same(file, known[file.path])
        }
        # Boots are told apart by their logs' order: logs are all kept, or all read again.
        logs = {name for name, row in known.items() if row["kind"] == LOGS}
        new = (file for file in files if file.path not in self.rows)
        if not logs <= set(self.rows) or any(_is_log(file) for file in new):
            self.rows = {name: row for name, row in self.rows.items() if row["kind"] != LOGS}
        pages = connection.sql("select file, page from earlier.pages order by page").fetchall()
        self._pages: dict[str, list[int]] = {}
        for name, page in pages:
            self._pages.setdefault(name, []).append(page)
        self._moved: dict[int, int] = {}

    def take(self, file: str, first_page: int) -> int:
        """Keep a file's rows, its pages numbered from `first_page`; the number of its pages."""
        pages = self._pages.get(file, [])
        self._moved.update(zip(pages, range(first_page, first_page + len(pages)), strict=True))
        return len(pages)

    def copy(self, words: Words) -> int:
        """Insert all rows of the kept files; the number of samples among them."""
        numbers = [
            words.number(name, labels, instance_of(labels))
            for name, labels in self.connection.sql(
                "select name, labels from earlier.series order by series"
            ).fetchall()
        ]
        moved = np.array(list(self._moved.items()), "i4").reshape(-1, 2)
        self._register("moved_pages", pl.DataFrame({"page": moved[:, 0], "now": moved[:, 1]}))
        old = self.connection.sql("select series from earlier.series order by series").pl()["series"]
        self._register("moved_series", pl.DataFrame({"series": old, "now": pl.Series(numbers, dtype=pl.Int32)}))
        self._register("kept_files", pl.DataFrame({"file": pl.Series(list(self.rows), dtype=pl.String)}))
        self.connection.execute(
            "insert into pages by name select old.* replace (moved_pages.now as page) "
            "from earlier.pages as old join moved_pages on old.page = moved_pages.page order by moved_pages.now"
        )
        self.connection.execute(
            "insert into samples select moved_pages.now, moved_series.now, line, value from earlier.samples "
            "join moved_pages using (page) join moved_series using (series)"
        )
        for table in self._tables():
            self.connection.execute(
                f"insert into {table} by name from earlier.{table} where file in (from kept_files) order by rowid"
            )
        for name in ("moved_pages", "moved_series", "kept_files"):
            self.connection.unregister(name)
        return int(self.connection.sql("select count(*) from samples").fetchall()[0][0])

    def _tables(self) -> list[str]:
        rows = self.connection.sql(
            "select distinct table_name from duckdb_columns() where column_name = 'file' and not internal "
            "and database_name = current_database() and table_name not in ('files', 'pages') order by table_name"
        ).fetchall()
        return [table for (table,) in rows]

    def _register(self, name: str, frame: pl.DataFrame) -> None:
        self.connection.register(name, frame.to_arrow())


@contextmanager
def attached(
    connection: duckdb.DuckDBPyConnection, stores: Iterable[Path], files: list[SourceFile]
) -> Iterator[Earlier | None]:
    """The newest usable one of the stores, attached to the connection; None when there is none."""
    for store in sorted(stores, key=_age_s):
        if not fingerprint.is_of_this_code(store):
            continue
        try:
            connection.execute(f"attach '{str(store).replace(chr(39), chr(39) * 2)}' as earlier (read_only)")
        except duckdb.Error:
            continue
        try:
            yield Earlier(connection, files)
        finally:
            connection.execute("detach earlier")
        return
    yield None


def _age_s(store: Path) -> float:
    """Sorts the newest first; one that another run has just removed last."""
    try:
        return -store.stat().st_mtime
    except OSError:
        return 0.0


def _is_same(file: SourceFile, row: Row) -> bool:
    return bool(row["size_bytes"] == file.size and row["modified_at_s"] == file.modified_at_s)


def _is_log(file: SourceFile) -> bool:
    try:
        reader = reader_of(file)
    except Exception:  # whatever it is, the loader will meet it again and say so
        return True
    return reader is not None and getattr(reader, "__name__", "").endswith(LOGS)
