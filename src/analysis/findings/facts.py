"""Everything that was read from a study, as one JSON object: what `python -m analysis facts DIR` prints.

The form is that of the hand-checked cases (tests/cases/README.md): boots, boots_summary, metrics, requests, reconcile,
kv_cost; and beside them `files` (what became of each file) and `unparsed` (lines that look known and do not parse).
"""

from typing import Any

import duckdb

from analysis.findings import facts_boots, facts_metrics, facts_requests


def facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The facts of a loaded store. A section without any input is absent, never empty or zero."""
    sections: dict[str, Any] = {**facts_boots.facts(connection)}
    metrics = facts_metrics.facts(connection)
    if metrics is not None:
        sections["metrics"] = metrics
    sections |= facts_requests.facts(connection)
    return {
        **sections,
        "files": _rows(connection, "select file, kind, format, status, message from files order by file"),
        "unparsed": _rows(connection, "select file, line, what, text from unparsed order by file, line"),
    }


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    relation = connection.sql(query)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
