"""Which lines of which files a figure rests on, as a reader can look them up."""

import json
from dataclasses import replace

import duckdb

from analysis.estimates.estimate import Evidence

MOST = 64
"""Lines that one figure names; a fleet has thousands."""


def of_run(connection: duckdb.DuckDBPyConnection, run: str) -> dict[str, tuple[Evidence, ...]]:
    """For each concept, the line of its sum (or counter) on the first and on the last page of the run."""
    found: dict[str, list[Evidence]] = {}
    query = """
        select distinct concept, file, line, name, labels, place, value from run_evidence where run = $run
        order by concept, place desc, file, line, name, labels
    """
    for concept, file, line, name, labels, place, value in connection.sql(query, params={"run": run}).fetchall():
        window = f"{place}, where it is {value:.12g}"
        found.setdefault(concept, []).append(Evidence(file, line=line, series=series_text(name, labels), window=window))
    return {concept: bounded(lines) for concept, lines in found.items()}


def of_boots(
    connection: duckdb.DuckDBPyConnection, boots: list[str], facts: tuple[str, ...]
) -> tuple[Evidence, ...]:  # fmt: skip
    """The log lines of these boots that state one of the facts (engines/*/boot_lines.toml)."""
    query = """
        select distinct file, line, quote from boot_facts
        where boot in $boots and fact in $facts order by file, line limit $most
    """
    given = {"boots": boots, "facts": list(facts), "most": MOST}
    lines = connection.sql(query, params=given).fetchall() if boots else []
    return tuple(Evidence(file, line=line, quote=quote) for file, line, quote in lines)


def series_text(name: str, labels: str) -> str:
    """A series as a page writes it, so that a reader can search the page for it."""
    pairs = ",".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in json.loads(labels).items())
    return f"{name}{{{pairs}}}" if pairs else name


def bounded(lines: list[Evidence], parts: int = 1) -> tuple[Evidence, ...]:
    """As many of these lines as one of so many parts of a figure may name, and how many more there are."""
    most = MOST // parts
    if len(lines) <= most:
        return tuple(lines)
    rest = replace(lines[most], line=None, series=None, quote=None, window=f"and {len(lines) - most} lines more")
    return (*lines[:most], rest)
