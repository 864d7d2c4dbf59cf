"""A study as Parquet: the canonical tables with their dictionary out, and such a folder read in place as a study."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb

from analysis import paths
from analysis.store import concepts, fingerprint, violations

DICTIONARY = "dictionary.json"
FORMAT = "analysis-tables"
LARGE = ("samples", "engine_steps", "requests", "host_counters", "replica_totals")
"""Tables that stay in their files and are read there; the others are small, and copied into the store."""
_COMPUTED = ("defects", "violations")
"""Tables of the schema that views fill; they are computed anew."""


class ExportError(Exception):
    """Tables that cannot be written or read: one sentence that names the place and says what to do."""


def export(connection: duckdb.DuckDBPyConnection, out: Path) -> Path:
    """Write every canonical table of a store as <out>/<table>.parquet, and dictionary.json; returns `out`.

    The folder appears whole or not at all. Raises ExportError when there is something at `out`.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there and is not empty; nothing is overwritten, give another OUT=")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.partial-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        for table in tables():
            target = _literal(partial / f"{table}.parquet")
            connection.execute(f"copy (from {table}) to {target} (format parquet, compression zstd)")
        (partial / DICTIONARY).write_text(json.dumps(dictionary(connection), indent=1) + "\n", encoding="utf-8")
        if out.is_dir():
            out.rmdir()
        partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return out


def tables() -> list[str]:
    """The canonical tables, in the order of the schema."""
    found = re.findall(r"^create table (\w+)", paths.SCHEMA.read_text(encoding="utf-8"), re.MULTILINE)
    return [table for table in found if table not in _COMPUTED]


def dictionary(connection: duckdb.DuckDBPyConnection) -> dict[str, object]:
    """What each table and column is, from the schema: grain, rows, types, and the schema's own comments."""
    schema = paths.SCHEMA.read_text(encoding="utf-8")
    pattern = r"^-- (one row per [^\n]+)\n(?:--[^\n]*\n)*create table (\w+)"
    grains = {name: grain for grain, name in re.findall(pattern, schema, re.MULTILINE)}
    found: dict[str, object] = {}
    for table in tables():
        columns = connection.sql(
            "select column_name, data_type from duckdb_columns() where table_name = $table order by column_index",
            params={"table": table},
        ).fetchall()
        body = schema.partition(f"create table {table} (")[2].partition("\n);")[0]
        rows = connection.sql(f"select count(*) from {table}").fetchall()[0][0]
        found[table] = {
            "file": f"{table}.parquet", "grain": grains.get(table, ""), "rows": rows,
            "columns": [{"name": name, "type": kind, "comment": _comment(body, name)} for name, kind in columns],
        }  # fmt: skip
    return {
        "format": FORMAT, "units": "in the column names: _s seconds, _bytes, _tokens; times are unix seconds",
        "tables": found,
    }  # fmt: skip


def _comment(body: str, column: str) -> str:
    """The schema's comment on the line that declares a column, where it has one to itself or shares it."""
    match = re.search(rf"^[^\n]*\b{column}\b[^\n-]*--\s*([^\n]+)$", body, re.MULTILINE)
    return match[1].strip() if match else ""


def is_export(data: Path) -> bool:
    """Whether a study directory is a folder of exported tables."""
    try:
        return bool(json.loads((data / DICTIONARY).read_text(encoding="utf-8")).get("format") == FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def fill(
    connection: duckdb.DuckDBPyConnection, data: Path, run_views: Callable[[duckdb.DuckDBPyConnection], None]
) -> str:
    """Make the store of exported tables: large ones as views of their files, the views over them as for any study.

    A table is <table>.parquet or <table>/*.parquet. Returns the digest of the folder. Raises ExportError when a file
    is damaged, or lacks a column that the schema has.
    """
    digest = fingerprint.of(data)
    connection.begin()
    connection.execute(paths.SCHEMA.read_text(encoding="utf-8"))
    for table in tables():
        files = _files(data, table)
        if files:
            _attach(connection, table, files)
        elif table == "files":
            raise ExportError(f"{data}: files.parquet is missing; export the study again")
    concepts.load(connection)
    run_views(connection)
    concepts.note_defects(connection)
    violations.note(connection)
    fingerprint.store(connection, data, digest)
    connection.commit()
    return digest


def _files(data: Path, table: str) -> list[Path]:
    single = data / f"{table}.parquet"
    return [single] if single.is_file() else sorted((data / table).glob("*.parquet"))


def _attach(connection: duckdb.DuckDBPyConnection, table: str, files: list[Path]) -> None:
    source = f"read_parquet([{', '.join(_literal(file) for file in files)}])"
    columns = connection.sql(
        "select column_name, data_type from duckdb_columns() where table_name = $table order by column_index",
        params={"table": table},
    ).fetchall()
    try:
        there = {name for name, *_ in connection.sql(f"describe from {source}").fetchall()}
        if missing := [name for name, _ in columns if name not in there]:
            raise ExportError(f"{files[0]}: lacks {', '.join(missing)}: written by another version; export it again")
        cast = ", ".join(f'cast("{name}" as {kind}) as "{name}"' for name, kind in columns)
        if table in LARGE:
            connection.execute(f"drop table {table}")
            connection.execute(f"create view {table} as select {cast} from {source}")
        else:
            connection.execute(f"insert into {table} by name select {cast} from {source}")
    except duckdb.Error as error:
        raise ExportError(f"{files[0]}: cannot be read ({str(error).splitlines()[0][:200]}); export it again") from None


def _literal(path: Path) -> str:
    """A path as an SQL text; DuckDB takes no parameter here."""
    return "'" + str(path.resolve()).replace("'", "''") + "'"
