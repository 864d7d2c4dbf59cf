"""The totals of each replica of a fleet that is summed into one run: few numbers a replica, whatever the period."""

import re
from collections.abc import Sequence
from math import ceil

from analysis import engines
from analysis.sources import fleet_queries as ask
from analysis.sources.fleet_counters import Grid, Key, counter, key_of
from analysis.sources.fleet_samples import Sample

LONGEST_CHUNK_S = 6 * 3600
"""Totals of replicas are asked for in steps of at most this."""
_INFO = re.compile(r"(?:.*[:_])?(?:config|build|server|python|model)_info")


def replica_rows(grid: Grid, samples: Sequence[Sample], names: Sequence[str]) -> list[dict[str, object]]:
    """Each replica's increases over the period (histograms as sum and count), its gauges' last values, its settings."""
    scope = grid.scope
    span = grid.windows * scope.window_s
    longest = max(1, LONGEST_CHUNK_S // scope.window_s) * scope.window_s
    chunks = ceil(span / longest)
    wide = ask.Scope(scope.match, scope.replica, scope.marker, min(span, longest), scope.lookback_s, scope.resolution_s)
    coarse = Grid.of(grid.server, wide, grid.start, chunks, grid.has_starts)
    coarse.find_movements([s.on_server for s in samples if s.shows_restarts])
    rows: list[dict[str, object]] = []
    for sample in samples:
        if sample.statistic == "bucket":
            continue
        labels = sorted({*sample.labels, *wide.replica})
        if sample.is_counted:
            table = counter(coarse, sample.on_server, labels, wide.replica, {}).increase
            values = {key: float(row.sum()) for key, row in table.items()}
        else:
            query = ask.grouped("max", labels, wide.last(sample.on_server))
            values = {key_of(s): points[-1][1] for s, points in grid.server.at(query, coarse.edge(chunks))}
        rows += [_row(key, wide.replica, sample.name, value) for key, value in values.items()]
    for name in names:
        if _INFO.fullmatch(name) and name not in {sample.on_server for sample in samples}:
            found = grid.server.at(wide.last(name), coarse.edge(chunks))
            rows += [
                _row(key_of(labels), wide.replica, engines.canonical_name(name), points[-1][1])
                for labels, points in found
            ]
    for sample in (one for one in samples if one.type == "info"):
        found = grid.server.at(wide.last(sample.on_server), coarse.edge(chunks))
        rows += [
            _row(key_of(labels), wide.replica, f"{sample.name}", points[-1][1], whole=True) for labels, points in found
        ]
    return rows


def _row(key: Key, replica: Sequence[str], name: str, value: float, whole: bool = False) -> dict[str, object]:
    labels = {k: v for k, v in key if k not in replica}
    row: dict[str, object] = {"replica": "/".join(dict(key).get(label, "") for label in replica), "name": name,
                              "labels": labels, "value": value}  # fmt: skip
    return {**row, "setting": True} if whole or _INFO.fullmatch(name) else row
