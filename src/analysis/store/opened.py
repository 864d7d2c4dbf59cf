"""The store of a study, open to be asked; read in first where it is missing, damaged or old."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from analysis import paths
from analysis.store import fingerprint
from analysis.store.load import Progress, load, without_bar

MEMORY_LIMIT = "600MB"
"""What the database may take while it answers; the rest goes through a temporary folder beside the store."""
PINNED = "ANALYSIS_STORE"
"""Environment variable with the store that a report is made of: all its pages are of one state of the study."""


@dataclass(frozen=True, slots=True)
class Store:
    """The store `database` of the study directory `data`; the connection is read-only."""

    data: Path
    database: Path
    connection: duckdb.DuckDBPyConnection

    def sql(self, query: str, /, **parameters: Any) -> pl.DataFrame:
        """The rows of a query as a polars frame. `$name` in the query is bound to the keyword of that name."""
        return self.connection.sql(query, params=parameters or None).pl()


def open_store(data: Path, progress: Progress | None = None) -> Store:
    """The store of a study directory, read in when it is missing, damaged or not of what the files now say.

    The file is named after the digest of its inputs: a store that somebody has open is never changed under them, and
    two states of a study are never taken for each other. Stores of earlier states are removed.
    """
    pinned = os.environ.get(PINNED)
    if pinned and fingerprint.is_about(Path(pinned), data):
        return _opened(data, Path(pinned))
    digest = fingerprint.of(data)
    # Cut: a folder's name may be as long as the file system allows, and ours adds to it.
    database = paths.STORES / f"{data.name[:80]}-{fingerprint.short(data)}" / f"{digest[:16]}.duckdb"
    if not fingerprint.is_current(database, digest):
        earlier = [store for store in database.parent.glob("*.duckdb") if store != database]
        load(data, database, progress, earlier)
        for store in earlier:
            store.unlink(missing_ok=True)
    return _opened(data, database)


def _opened(data: Path, database: Path) -> Store:
    # Named as what a killed process leaves behind is: the next run removes it (store/load.py).
    spill = database.with_name(f".{database.stem}.{os.getpid()}.partial-queries")
    connection = duckdb.connect(
        str(database), read_only=True, config={"memory_limit": MEMORY_LIMIT, "temp_directory": str(spill)}
    )
    without_bar(connection)  # it would show on the pages
    return Store(data, database, connection)
