"""Whether the figures of a study were measured or transcribed from reports: said before anything else."""

import json

import duckdb
import polars as pl

from analysis.findings.frames import rows


def transcribed_from(connection: duckdb.DuckDBPyConnection) -> str | None:
    """What study.toml says under `transcribed`, or None for a study that was measured."""
    found = connection.sql(
        "select value from study_facts where key = 'transcribed' order by file, line limit 1"
    ).fetchall()
    if not found:
        return None
    said = json.loads(found[0][0])
    return said if isinstance(said, str) and said.strip() else None  # anything else is listed as not understood


def sentence(connection: duckdb.DuckDBPyConnection) -> str:
    """One sentence for the top of a page: measured here, or transcribed and from what."""
    source = transcribed_from(connection)
    if source is None:
        return "These boots are of this study: their figures are read from their own logs."
    return (
        f"Not measured here: the figures were transcribed from {source}. They show the method on other people's boots "
        "and are never mixed with measured ones."
    )


def sources(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot whose source study.toml names: its arm, host and compile cache, and the report it is from."""
    return rows(
        connection,
        """
        select boot, declared.arm, host, compile_state as "compile cache", source, declared.note
        from boot_statements left join declared using (boot) where source is not null order by declared.ordinal, boot
        """,
    )
