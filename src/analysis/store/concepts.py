"""Puts the engines' tables of names and defects into the store, for the views to join."""

from typing import Any

import duckdb
import polars as pl

from analysis import engines
from analysis.engines import Defect, Metric, version_key

_NAMES: dict[str, Any] = {
    "sample_name": pl.String, "engine": pl.String, "concept": pl.String, "statistic": pl.String, "type": pl.String,
    "unit": pl.String, "scale": pl.Float64, "name_rank": pl.Float64, "key_label": pl.String, "key_value": pl.String,
    "where_label": pl.String, "where_value": pl.String, "combine": pl.String, "since": pl.String, "until": pl.String,
    "definition": pl.String,
}  # fmt: skip
_DEFECTS: dict[str, Any] = {
    "defect": pl.String, "engine": pl.String, "versions": pl.String, "since_key": pl.List(pl.Int64),
    "until_key": pl.List(pl.Int64), "by_version": pl.Boolean, "action": pl.String, "swaps": pl.Boolean,
    "concepts": pl.List(pl.String), "what": pl.String, "source": pl.String,
}  # fmt: skip


def load(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables `metric_names` (one row per sample name and concept), `known_defects` and `rank_labels`."""
    names = [row for engine in engines.ENGINES for metric in engines.metrics(engine) for row in _names(engine, metric)]
    defects = [_defect(defect) for engine in engines.ENGINES for defect in engines.defects(engine)]
    ranks = [
        {"engine": engines.label(engine), "label": name}
        for engine in engines.ENGINES
        for name in engines.table(engine, "metrics").get("rank_labels", [])
    ]
    _create(connection, "metric_names", pl.DataFrame(names, schema=_NAMES))
    _create(connection, "known_defects", pl.DataFrame(defects, schema=_DEFECTS))
    _create(connection, "rank_labels", pl.DataFrame(ranks, schema={"engine": pl.String, "label": pl.String}))


def note_defects(connection: duckdb.DuckDBPyConnection) -> None:
    """Write what the view `target_defects` found into the table `defects`; to be called once the views are there."""
    connection.execute(
        "insert into defects by name select defect, engine, versions, target as scope, detected_by, action, detail "
        "from target_defects order by target, life, defect"
    )


def _create(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    connection.register("incoming", frame.to_arrow())
    connection.execute(f"create or replace table {table} as select * from incoming")
    connection.unregister("incoming")


def _names(engine: str, metric: Metric) -> list[dict[str, Any]]:
    if len(metric.where) > 1:
        raise ValueError(f"{engine}: {metric.name}: one label at most in `where`")
    label, value = metric.where[0] if metric.where else (None, None)
    return [
        {"sample_name": name, "engine": engines.label(engine), "concept": metric.concept,
         "statistic": statistic, "type": "counter" if metric.of else metric.type, "unit": metric.unit,
         "scale": metric.scale,
         # A counter's name without _total gives way to the one with it.
         "name_rank": metric.rank + (0.5 if metric.type == "counter" and name.endswith(metric.name) else 0.0),
         "key_label": metric.key, "key_value": metric.key_value, "where_label": label, "where_value": value,
         "combine": metric.combine, "since": metric.since, "until": metric.until, "definition": metric.definition}
        for name, statistic in engines.samples(engine, metric).items()
    ]  # fmt: skip


def _defect(defect: Defect) -> dict[str, Any]:
    since, until = defect.since or "", defect.until or ""
    versions = {
        (True, True): f"{since} to before {until}",
        (True, False): f"{since} and later",
        (False, True): f"before {until}",
    }
    return {
        "defect": defect.id, "engine": defect.engine, "versions": versions.get((bool(since), bool(until)), "all"),
        "since_key": version_key(defect.since), "until_key": version_key(defect.until),
        "by_version": defect.version_decides, "action": defect.action, "swaps": defect.swaps,
        "concepts": list(defect.concepts), "what": defect.what, "source": defect.source,
    }  # fmt: skip
