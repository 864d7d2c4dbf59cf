"""Whether a store still says what its study directory says: the inputs and the code that read them, as one digest."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import duckdb

from analysis import paths
from analysis.sources.files import SourceFile, walk


def of(data: Path) -> str:
    """Digest of the names, sizes and modification times of a study's files, and of the code that reads them."""
    return of_files(*walk(data))


def of_files(files: list[SourceFile], skipped: list[tuple[str, str]]) -> str:
    """The same of files that were walked already."""
    digest = hashlib.sha256(code().encode())
    for file in files:
        digest.update(f"{file.path}\0{file.size}\0{file.modified_at_s!r}\0".encode())
    for name, why in skipped:
        digest.update(f"{name}\0{why}\0".encode())
    return digest.hexdigest()


@cache
def code() -> str:
    """Digest of the package's readers, tables, schema and views: an edited table makes every store stale."""
    digest = hashlib.sha256()
    for room in ("sources", "engines", "store"):
        for file in sorted((paths.PACKAGE / room).rglob("*")):
            if file.suffix in (".py", ".sql", ".toml"):
                digest.update(file.read_bytes())
    return digest.hexdigest()


def store(connection: duckdb.DuckDBPyConnection, data: Path, digest: str) -> None:
    """Keep in the store being built where its data are and their digest."""
    connection.execute("create table provenance (key varchar primary key, value varchar not null)")
    connection.execute(
        "insert into provenance values ('data', $data), ('fingerprint', $digest), ('code', $code)",
        {"data": str(data), "digest": digest, "code": code()},
    )


def is_current(database: Path, digest: str) -> bool:
    """Whether the store at `database` is whole and was built from inputs of this digest."""
    return _provenance(database, "fingerprint") == digest


def is_of_this_code(database: Path) -> bool:
    """Whether the store at `database` is whole and was built by the readers and views of today."""
    return _provenance(database, "code") == code()


def is_about(database: Path, data: Path) -> bool:
    """Whether the store at `database` is whole and was read from the study directory `data`."""
    return _provenance(database, "data") == str(data)


def _provenance(database: Path, key: str) -> str | None:
    if not database.exists():
        return None
    try:
        with duckdb.connect(str(database), read_only=True) as connection:
            rows = connection.execute("select value from provenance where key = $key", {"key": key}).fetchall()
    except duckdb.Error:
        return None
    return rows[0][0] if rows else None


def short(path: Path) -> str:
    """Eight hexadecimal digits that stand for a folder's place."""
    return hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]


def digest(lines: Iterable[str]) -> str:
    """SHA-256 over lines of text."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
