"""Load a study directory into its DuckDB file: every file is read once and listed with what became of it."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from analysis import leftovers, paths
from analysis.redact import cut
from analysis.sources import prometheus_text
from analysis.sources.files import SourceFile, UnreadableFileError, walk
from analysis.sources.prometheus_scrapes import Scrape, Scrapes, page_format, page_rows
from analysis.sources.prometheus_words import instance_of
from analysis.sources.reading import Reading, Row, uncollected
from analysis.sources.registry import reader_of, why_not_recognised
from analysis.sources.request_times import drop_impossible
from analysis.store import concepts, fingerprint, parquet, violations
from analysis.store import earlier as earlier_store
from analysis.store.earlier import Earlier
from analysis.store.opened_files import OpenedFile, opened
from analysis.store.rows import Rows

MEMORY_LIMIT = "600MB"
"""What the database may take while a study is read in; the rest goes through a temporary file."""
_PARTIAL = re.compile(r"\..*\.(\d+)\.partial.*")


@dataclass(frozen=True, slots=True)
class Done:
    """How far reading is: files and their bytes of all there are, samples so far, and the file now read."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int
    samples: int
    now: str


Progress = Callable[[Done], None]
"""Called before each file, and at the end with an empty name."""

_DESCRIPTION = re.compile(r"(readme|license|notes|errors)(\.(md|txt|rst))?$", re.IGNORECASE)


def without_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn off the database's own progress bar."""
    # In JupyterLab without ipywidgets the bar cannot be shown, and turning it off is refused for that reason.
    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar = false")


class StoreError(Exception):
    """The store cannot be written: the message names the folder."""


class NothingToReadError(Exception):
    """A study in which no file was recognised: the message names the folder and says what is expected."""


def load(data: Path, database: Path, progress: Progress | None = None, earlier: Iterable[Path] = ()) -> None:
    """Read the study directory `data` into a new DuckDB file at `database`.

    The file is built beside its name and moved there when complete, so that a reader of the old one is not disturbed
    and a broken run leaves it as it was. What the newest of the `earlier` stores says of unchanged files is copied, and
    only the others are read. Raises NothingToReadError when no file was recognised.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    leftovers.remove(database.parent, _PARTIAL)
    partial = database.with_name(f".{database.stem}.{os.getpid()}.partial")
    try:
        with duckdb.connect(str(partial), config={"temp_directory": f"{partial}.tmp"}) as connection:
            connection.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
            without_bar(connection)  # standard output is ours
            if parquet.is_export(data):
                digest = parquet.fill(connection, data, run_views)
            else:
                digest = _Loader(connection).fill(data, progress, earlier)
        if not fingerprint.is_current(partial, digest):  # a full disk may show only here
            raise StoreError(f"{database.parent}: the store could not be written whole; is the disk full?")
        partial.replace(database)
    finally:
        for rest in partial.parent.glob(f"{partial.name}*"):
            leftovers.discard(rest)


class _Loader:
    """The state of one load: the open store, and the ids given out so far."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        connection.execute(paths.SCHEMA.read_text())
        self.rows = Rows(connection)
        self.scrapes = Scrapes()
        self.pages = 0
        self.boots: set[str] = set()

    def fill(self, data: Path, progress: Progress | None, stores: Iterable[Path]) -> str:
        """Read everything in `data`; returns the digest of what was there before the first byte was read."""
        # Before the first byte is read: a file that grows meanwhile makes the store stale.
        files, skipped = walk(data)
        digest = fingerprint.of_files(files, skipped)
        with earlier_store.attached(self.connection, stores, files) as earlier:
            self.connection.begin()
            self._take_all(files, earlier, progress)
            for name, why in skipped:
                self.rows.add("files", [{"file": name, "kind": "other", "status": "skipped", "message": why}])
            self.rows.flush()
            if earlier:
                earlier.copy(self.scrapes.words)
            self._add_series()
            self._require_something(data)
            self.connection.commit()
        self.connection.begin()
        concepts.load(self.connection)
        run_views(self.connection)
        concepts.note_defects(self.connection)
        violations.note(self.connection)
        fingerprint.store(self.connection, data, digest)
        self.connection.commit()
        return digest

    def _take_all(self, files: list[SourceFile], earlier: Earlier | None, progress: Progress | None) -> None:
        total, read = sum(file.size for file in files), 0
        ahead = opened((file for file in files if not (earlier and file.path in earlier.rows)), self.scrapes)
        for done, file in enumerate(files):
            if progress:
                progress(Done(done, len(files), read, total, self.rows.samples, file.path))
            if earlier and file.path in earlier.rows:
                self.pages += earlier.take(file.path, self.pages)
                self.rows.add("files", [earlier.rows[file.path]])
            else:
                self._take(file, next(ahead))
            read += file.size
        if progress:
            progress(Done(len(files), len(files), total, total, self.rows.samples, ""))

    def _take(self, file: SourceFile, of: OpenedFile) -> None:
        row: Row = {"file": file.path, "size_bytes": file.size, "modified_at_s": file.modified_at_s}
        row["sha256"] = of.sha256
        try:
            if of.error:
                raise of.error
            with uncollected():
                row |= self._read(of.file, of.page)
        except (UnreadableFileError, OSError) as error:
            row |= {"kind": "other", "status": "unreadable", "message": _sentence(file, error)}
        except duckdb.Error:
            raise  # not the file's fault: the store cannot be written
        except Exception as error:
            # A fault of a reader must not cost the other files; the inventory names it as what it is.
            why = f"{file.path}: the reader failed ({type(error).__name__}: {error}); please report this file's shape"
            row |= {"kind": "other", "status": "unreadable", "message": cut(why, 400)}
        self.rows.add("files", [row])

    def _read(self, file: SourceFile, page: list[Scrape] | None) -> Row:
        """Read one file, if it is not the known `page`, into the store; what became of it, for the table `files`."""
        name = file.path.rpartition("/")[2]
        if _DESCRIPTION.match(name):
            return {"kind": "other", "status": "skipped", "message": "a description, not data"}
        # A page of a known layout differs from one that was recognised in its numbers only.
        if name != "study.toml" and (plain := page or self.scrapes.read(file, known_only=True)):
            return self._add_scrapes(file, plain)
        reader = reader_of(file)
        if reader is None:
            return {"kind": "other", "status": "unrecognised", "message": why_not_recognised(file)}
        if reader is prometheus_text:
            plain = self.scrapes.read(file)
            if plain:
                return self._add_scrapes(file, plain)
            reading = prometheus_text.read_carefully(file)
        else:
            reading = reader.read(file)
        drop_impossible(reading)
        self._add_reading(file.path, reading)
        message = reading.message or "; ".join(file.troubles) or None
        status = "partial" if message else "read"
        return {"kind": reading.kind, "format": reading.format, "status": status, "message": message}

    def _add_scrapes(self, file: SourceFile, scrapes: list[Scrape]) -> Row:
        rows = page_rows(file, scrapes)
        for page, (row, scrape) in enumerate(zip(rows, scrapes, strict=True), start=self.pages):
            row |= {"page": page, "file": file.path}
            self.rows.add_scrape(page, scrape)
        self.rows.add("pages", rows)
        self.pages += len(scrapes)
        return {"kind": "metrics", "format": page_format(scrapes), "status": "read", "message": None}

    def _add_reading(self, file: str, reading: Reading) -> None:
        self._keep_boots_apart(file, reading)
        for table, rows in reading.tables.items():
            if table == "samples":
                self.rows.add(table, self._numbered(rows))  # type: ignore[arg-type]  # samples come as columns
            elif isinstance(rows, pl.DataFrame):
                self.rows.add(table, rows.with_columns(file=pl.lit(file)))
            else:
                for page, row in enumerate(rows, start=self.pages):
                    row |= {"file": file, "page": page} if table == "pages" else {"file": file}
                self.rows.add(table, rows)
        self.pages += len(reading.tables.get("pages", ()))
        self.rows.add(
            "unparsed", [{"file": file, "line": u.line, "what": u.what, "text": u.text} for u in reading.unparsed]
        )

    def _numbered(self, samples: pl.DataFrame) -> pl.DataFrame:
        """The samples of one careful reading under the numbers of their pages and series."""
        series = samples.select("name", "labels").unique(maintain_order=True)
        numbers = [self.scrapes.words.number(name, labels, instance_of(labels)) for name, labels in series.iter_rows()]
        numbered = series.with_columns(series=pl.Series(numbers, dtype=pl.Int32))
        return (
            samples.join(numbered, on=["name", "labels"])
            .select(pl.col("page_index").cast(pl.Int32).alias("page") + self.pages, "series", "line", "value")
            .sort("page", "line")
        )

    def _add_series(self) -> None:
        self.rows.add("series", self.scrapes.words.table())
        self.rows.flush()

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
