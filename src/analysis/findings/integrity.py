"""Integrity before statistics: rows that must not exist (store/checks/*.sql), and which runs they touch.

A run that a check touches has no publishable share: its pages contradict themselves, and no interval mends that.
"""

import duckdb
import polars as pl

from analysis import paths

SHOWN = 200
"""Most rows kept of one check: the first say what is wrong."""
_SCHEMA = {"check": pl.String, "means": pl.String, "run": pl.String, "scope": pl.String, "detail": pl.String}


def violations(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a violation: the check, what a row of it means, the run it touches, where, and the detail."""
    runs = _runs(connection)
    found = []
    for file in sorted(paths.CHECKS.glob("*.sql")):
        query = file.read_text(encoding="utf-8")
        means = query.splitlines()[0].removeprefix("-- ")
        rows = connection.sql(query).limit(SHOWN).fetchall()
        found += [(file.stem, means, runs.get(scope), scope, detail) for scope, detail in rows]
    return pl.DataFrame(found, schema=_SCHEMA, orient="row").sort("check", "scope", "detail")


def broken_runs(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Why the shares of a run cannot be published, by run; a run that is not named passed every check."""
    rows = violations(connection).drop_nulls("run").unique("run", keep="first", maintain_order=True)
    return {run: f"{means} ({detail}; {scope})" for _, means, run, scope, detail in rows.iter_rows()}


def _runs(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The run of each scope that a check may name: a page of a file, or a life of a target."""
    return dict(
        connection.sql(
            """
            with places as (
                select
                    coalesce(boot_pages.boot, boot_pages.target) as run,
                    pages.file || ' page ' || pages.page_index as of_page,
                    page_order.target || ' life ' || page_order.life as of_life
                from boot_pages join pages using (page) join page_order using (page)
            )
            select distinct of_page, run from places
            union all
            select of_life, min(run) from places group by of_life
            """
        ).fetchall()
    )
