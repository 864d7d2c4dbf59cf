"""Load a study directory into its DuckDB file: every file is read once and listed with what became of it."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from analysis import paths
from analysis.sources.files import SourceFile, UnreadableFileError, walk
from analysis.sources.reading import Reading
from analysis.sources.registry import reader_of, why_not_recognised
from analysis.sources.request_times import drop_impossible
from analysis.store import concepts, fingerprint, parquet

Progress = Callable[[int, int, str], None]
"""Called with (files done, files in all, path of the file now read)."""

POLARS_TYPES: dict[str, Any] = {
    "VARCHAR": pl.String,
    "BIGINT": pl.Int64,
    "INTEGER": pl.Int32,
    "DOUBLE": pl.Float64,
    "BOOLEAN": pl.Boolean,
    "DOUBLE[]": pl.List(pl.Float64),
    "BIGINT[]": pl.List(pl.Int64),
}


_DESCRIPTION = re.compile(r"(readme|license|notes|errors)(\.(md|txt|rst))?$", re.IGNORECASE)


class StoreError(Exception):
    """The store cannot be written: the message names the folder."""


class NothingToReadError(Exception):
    """A study in which no file was recognised: the message names the folder and says what is expected."""


def load(data: Path, database: Path, progress: Progress | None = None) -> None:
    """Read the study directory `data` into a new DuckDB file at `database`.

    The file is built beside its name and moved there when complete, so that a reader of the old one is not disturbed
    and a broken run leaves it as it was. Raises NothingToReadError when no file was recognised.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    partial = database.with_name(f".{database.stem}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(partial)) as connection:
            if parquet.is_export(data):
                digest = parquet.fill(connection, data, run_views)
            else:
                digest = _Loader(connection).fill(data, progress)
        if not fingerprint.is_current(partial, digest):  # a full disk may show only here
            raise StoreError(f"{database.parent}: the store could not be written whole; is the disk full?")
        partial.replace(database)
    finally:
        partial.unlink(missing_ok=True)
        Path(f"{partial}.wal").unlink(missing_ok=True)


class _Loader:
    """The state of one load: the open store, and the ids given out so far."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        connection.execute(paths.SCHEMA.read_text())
        self.columns = self._columns()
        self.pages = 0
        self.boots: set[str] = set()
        self.series = pl.DataFrame(schema={"name": pl.String, "labels": pl.String, "series": pl.Int32})

    def fill(self, data: Path, progress: Progress | None) -> str:
        """Read everything in `data`; returns the digest of what was there before the first byte was read."""
        # Before the first byte is read: a file that grows meanwhile makes the store stale.
        digest = fingerprint.of(data)
        files, skipped = walk(data)
        self.connection.begin()
        for done, file in enumerate(files):
            if progress:
                progress(done, len(files), file.path)
            self._take(file)
        for name, why in skipped:
            self._insert("files", [{"file": name, "kind": "other", "status": "skipped", "message": why}])
        self._insert("series", self.series)
        self._require_something(data)
        concepts.load(self.connection)
        run_views(self.connection)
        concepts.note_defects(self.connection)
        fingerprint.store(self.connection, data, digest)
        self.connection.commit()
        if progress:
            progress(len(files), len(files), "")
        return digest

    def _columns(self) -> dict[str, dict[str, Any]]:
        rows = self.connection.sql(
            "select table_name, column_name, data_type from duckdb_columns() where not internal"
        ).fetchall()
        columns: dict[str, dict[str, Any]] = {}
        for table, column, data_type in rows:
            columns.setdefault(table, {})[column] = POLARS_TYPES[data_type]
        return columns

    def _take(self, file: SourceFile) -> None:
        row: dict[str, Any] = {"file": file.path, "size_bytes": file.size, "modified_at_s": file.modified_at_s}
        try:
            with file.absolute.open("rb") as stream:
                row["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
            if _DESCRIPTION.match(Path(file.path).name):
                why = "a description, not data"
                self._insert("files", [{**row, "kind": "other", "status": "skipped", "message": why}])
                return
            reader = reader_of(file)
            if reader is None:
                why = why_not_recognised(file)
                self._insert("files", [{**row, "kind": "other", "status": "unrecognised", "message": why}])
                return
            reading = reader.read(file)
            drop_impossible(reading)
            self._insert_reading(file.path, reading)
        except (UnreadableFileError, OSError) as error:
            self._insert("files", [{**row, "kind": "other", "status": "unreadable", "message": _sentence(file, error)}])
        except Exception as error:
            # A fault of a reader must not cost the other files; the inventory names it as what it is.
            why = f"{file.path}: the reader failed ({type(error).__name__}: {error}); please report this file's shape"
            self._insert("files", [{**row, "kind": "other", "status": "unreadable", "message": why[:400]}])
        else:
            message = reading.message or "; ".join(file.troubles) or None
            status = "partial" if message else "read"
            row |= {"kind": reading.kind, "format": reading.format, "status": status, "message": message}
            self._insert("files", [row])

    def _insert_reading(self, file: str, reading: Reading) -> None:
        self._keep_boots_apart(file, reading)
        frames = {table: self._frame(table, rows, file) for table, rows in reading.tables.items() if len(rows)}
        if "samples" in frames:
            frames["samples"] = self._with_ids(frames["samples"], frames["pages"])
        self.pages += frames["pages"].height if "pages" in frames else 0
        for table, frame in frames.items():
            self._insert(table, frame)
        self._insert(
            "unparsed", [{"file": file, "line": u.line, "what": u.what, "text": u.text} for u in reading.unparsed]
        )

    def _keep_boots_apart(self, file: str, reading: Reading) -> None:
        """Two logs of one stem in two folders are two boots: the later one is called by its path."""
        for row in reading.tables.get("boots", []):
            if row["boot"] in self.boots:
                name = f"{Path(file).parent.as_posix()}/{row['boot']}"
                for other in ("boot_facts", "engine_steps"):
                    if isinstance(rows := reading.tables.get(other, []), pl.DataFrame):
                        reading.tables[other] = rows.with_columns(pl.col("boot").replace(row["boot"], name))
                        continue
                    for fact in rows:
                        fact["boot"] = name if fact["boot"] == row["boot"] else fact["boot"]
                row["boot"] = name
            self.boots.add(row["boot"])

    def _frame(self, table: str, rows: Any, file: str) -> pl.DataFrame:
        schema = dict(self.columns[table])
        if table == "samples":
            schema = {
                "page_index": pl.Int32,
                "name": pl.String,
                "labels": pl.String,
                "line": pl.Int64,
                "value": pl.Float64,
            }
            return (
                rows.select(pl.col(name).cast(kind) for name, kind in schema.items())
                if isinstance(rows, pl.DataFrame)
                else pl.DataFrame(rows, schema=schema)
            )
        frame = pl.DataFrame(rows, schema={name: kind for name, kind in schema.items() if name not in ("file", "page")})
        if "file" in schema:
            frame = frame.with_columns(file=pl.lit(file))
        if table == "pages":
            frame = frame.with_columns(page=pl.int_range(pl.len(), dtype=pl.Int32) + self.pages)
        return frame

    def _with_ids(self, samples: pl.DataFrame, pages: pl.DataFrame) -> pl.DataFrame:
        new = (
            samples.select("name", "labels")
            .unique(maintain_order=True)
            .join(self.series, on=["name", "labels"], how="anti")
        )
        start = self.series.height
        self.series = pl.concat([self.series, new.with_columns(series=pl.int_range(pl.len(), dtype=pl.Int32) + start)])
        return (
            samples.join(self.series, on=["name", "labels"])
            .join(pages.select("page_index", "page"), on="page_index")
            .select("page", "series", "line", "value")
            .sort("page", "line")
        )

    def _insert(self, table: str, rows: pl.DataFrame | list[dict[str, Any]]) -> None:
        if not len(rows):
            return
        frame = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, schema=self._narrow(table, rows))
        self.connection.register("incoming", frame.to_arrow())
        self.connection.execute(f"insert into {table} by name select * from incoming")
        self.connection.unregister("incoming")

    def _narrow(self, table: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {name: kind for name, kind in self.columns[table].items() if name in rows[0]}

    def _require_something(self, data: Path) -> None:
        found = self.connection.sql("select count(*) from files where status in ('read', 'partial')").fetchall()[0][0]
        if not found:
            listed = self.connection.sql("select file, message from files order by file limit 3").fetchall()
            seen = "; ".join(f"{name} ({why})" for name, why in listed) or "the folder is empty"
            raise NothingToReadError(
                f"{data}: no file in it is a metric page, a boot log or a load generator's result: {seen}. "
                "Put /metrics pages and engine logs there; docs/formats lists what is read."
            )


def run_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of store/views, in the order of their file names."""
    for file in sorted(paths.VIEWS.glob("*.sql")):
        connection.execute(file.read_text())


def _sentence(file: SourceFile, error: Exception) -> str:
    text = str(error)
    if isinstance(error, PermissionError):
        return f"{file.path}: no permission to read it; change its mode or copy it"
    if isinstance(error, OSError) and not isinstance(error, UnreadableFileError):
        return f"{file.path}: could not be read ({error.strerror or text}); copy it again from where it was made"
    return text if file.path in text else f"{file.path}: {text}"
