"""The tables of `engines` as tables of the store."""

import duckdb


def load(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the store's name tables."""
