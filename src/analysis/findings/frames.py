"""Small frames that findings share: rows of the store, and estimates laid out for charts and tables."""

from collections.abc import Iterable

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The rows of a query as a polars frame."""
    return connection.sql(query).pl()


def frame(estimates: Iterable[Estimate], *qualifiers: str, scale: float = 1) -> pl.DataFrame:
    """One row an estimate: its qualifiers, then value, low, high (times `scale`), n, method and reason."""
    table = [
        {
            **{q: e.qualifiers.get(q) for q in qualifiers},
            **{end: None if (x := getattr(e, end)) is None else x * scale for end in ("value", "low", "high")},
            "n": e.n, "n_of": e.n_of, "method": e.method, "reason": e.reason,
        }
        for e in estimates
    ]  # fmt: skip
    floats = dict.fromkeys(("value", "low", "high"), pl.Float64)
    texts = dict.fromkeys(("n_of", "method", "reason"), pl.String)
    schema = dict.fromkeys(qualifiers, pl.String) | floats | {"n": pl.Int64} | texts
    return pl.DataFrame(table, schema=schema)
