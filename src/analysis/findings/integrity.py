"""Integrity before statistics: rows that must not exist (store/checks/*.sql), and which runs they touch.

A run that a check touches has no publishable share: its pages contradict themselves, and no interval mends that.
"""

import duckdb
import polars as pl

from analysis.findings.frames import rows


def violations(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a violation: the check, what a row of it means, the run it touches, where, and the detail."""
    return rows(connection, 'select * from violations order by "check", scope, detail')


def broken_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Why the shares of a run cannot be published, by run; a run that is not named passed every check."""
    found = violations(connection).drop_nulls("run").unique("run", keep="first", maintain_order=True)
    return {run: f"{means} ({detail}; {scope})" for _, means, run, scope, detail in found.iter_rows()}
