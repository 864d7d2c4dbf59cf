"""Runs the checks (store/checks/*.sql: rows that must not exist) once, for every page that asks what they found."""

import duckdb
import polars as pl

from analysis import paths

SHOWN = 200
"""Most rows kept of one check: the first say what is wrong."""
_SCHEMA = {"check": pl.String, "means": pl.String, "run": pl.String, "scope": pl.String, "detail": pl.String}


def note(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the table `violations`; to be called once the views are there."""
    found = []
    for file in sorted(paths.CHECKS.glob("*.sql")):
        query = file.read_text(encoding="utf-8")
        means = query.splitlines()[0].removeprefix("-- ")
        rows = connection.sql(query).limit(SHOWN).fetchall()
        found += [(file.stem, means, scope, detail) for scope, detail in rows]
    if not found:
        return
    runs = _runs(connection)
    rows = [(check, means, runs.get(scope), scope, detail) for check, means, scope, detail in found]
    connection.register("incoming", pl.DataFrame(rows, schema=_SCHEMA, orient="row").to_arrow())
    connection.execute('insert into violations from incoming order by "check", scope, detail')
    connection.unregister("incoming")


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
