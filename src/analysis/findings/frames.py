"""Small frames that findings share: rows of the store, and estimates laid out for charts and tables."""

from collections.abc import Iterable

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate
from analysis.estimates.inputs import Floats


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """The rows of a query as a polars frame."""
    return connection.sql(query).pl()


def arrays(lists: pl.Series) -> list[Floats]:
    """Each list of numbers as an array, all of them parts of one; empty where there is no list, NaN for no number."""
    lengths = lists.list.len().fill_null(0)
    flat = lists.filter(lengths > 0).explode().cast(pl.Float64).to_numpy()
    ends = lengths.cast(pl.Int64).cum_sum().to_list()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def frame(estimates: Iterable[Estimate], *qualifiers: str, scale: float = 1) -> pl.DataFrame:
    """One row an estimate: its qualifiers, then value, low, high (times `scale`), n, method and reason.

    The numbers are cells of their estimate (estimates/cells.py).
    """
    table = [
        {
            **{q: e.qualifiers.get(q) for q in qualifiers},
            **cells.ends(e, scale), **cells.basis(e), "reason": cells.reason(e),
        }
        for e in estimates
    ]  # fmt: skip
    floats = dict.fromkeys(("value", "low", "high"), pl.Float64)
    texts = dict.fromkeys(("n_of", "method", "reason"), pl.String)
    schema = dict.fromkeys(qualifiers, pl.String) | floats | {"n": pl.Int64} | texts
    return cells.frame(table, schema)
