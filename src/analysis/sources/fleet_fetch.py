"""A fleet's period, fetched from its server into a folder of metric pages that the readers read like any others."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from pathlib import Path

import numpy as np

from analysis import engines
from analysis.sources import fleet_queries as ask
from analysis.sources.fleet_address import Address
from analysis.sources.fleet_counters import Floats, Grid, Key, counter, key_of, part
from analysis.sources.fleet_pages import Page, write_pages, write_replicas
from analysis.sources.fleet_replicas import replica_rows
from analysis.sources.fleet_samples import Sample, known_samples
from analysis.sources.prometheus_server import Server, ServerError

MOST_RUNS = 20
"""Up to so many replicas are runs of their own; a larger fleet is summed into one run, and its replicas are totals."""
PROBES_S = (60, 300, 3600)
"""The scrape interval is told by the most scrapes that so many seconds hold, the first of these that hold two."""
PROBED_S = 86400
"""Of a longer period its last day is looked at for that."""
WINDOWS = (15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Lengths of a window in s: the least that leaves at most 60 of them and is no shorter than a scrape interval."""
Say = Callable[[str], None]


@dataclass(slots=True)
class Fetch:
    """What one fetch asks: the address, its server, the names there, and the labels by which runs are told apart."""

    address: Address
    server: Server
    say: Say
    samples: list[Sample] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    by: tuple[str, ...] = ()
    is_summed: bool = False


def fetch(address: Address, folder: Path, say: Say = lambda text: None) -> None:
    """Fill the empty `folder` with the pages of the period, the totals of the replicas, and prometheus.json.

    `say` hears what is being asked. Raises ServerError with one sentence; what was written by then is for the caller
    to remove.
    """
    it = Fetch(address, Server(address.base), say)
    it.names = it.server.names("{" + address.match + "}", address.start, address.end)
    it.samples = known_samples(it.names)
    if not it.samples:
        raise ServerError(
            f"{address.base}: no metric of an engine that is known matches {{{address.match}}} in that period "
            f"({len(it.names):,} others do)"
        )
    engines_there = list(dict.fromkeys(sample.engine for sample in it.samples))
    said = [_of_engine(it, engine, folder, len(engines_there) > 1) for engine in engines_there]
    record = {
        "format": "analysis-prometheus-fetch", "address": address.canonical, "runs": said,
        "questions": it.server.questions, "received_bytes": it.server.received_bytes,
        "server_warnings": [f"{text} ({n} answers)" for text, n in sorted(it.server.warnings.items())],
    }  # fmt: skip
    (folder / "prometheus.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _of_engine(it: Fetch, engine: str, folder: Path, several: bool) -> dict[str, object]:
    samples = [sample for sample in it.samples if sample.engine == engine]
    marker = next((s for s in samples if s.type == "gauge"), samples[0]).on_server
    scope, start, windows = _scope(it, marker)
    replicas = it.server.at(
        ask.grouped(
            "count", scope.replica, f"count_over_time({scope.selector(marker)}[{ceil(windows * scope.window_s)}s])"
        ),
        start + windows * scope.window_s,
    )
    it.by = it.address.by if it.address.by is not None else scope.replica if len(replicas) <= MOST_RUNS else ()
    it.is_summed = not set(scope.replica) <= set(it.by)
    grid = Grid.of(it.server, scope, start, windows, "process_start_time_seconds" in it.names)
    it.say(f"{len(replicas):,} replicas, {windows:,} windows of {scope.window_s} s")
    grid.find_movements([s.on_server for s in samples if s.shows_restarts])
    pages = _pages(it, grid, samples)
    runs = write_pages(folder / "metrics", pages, it.by, engine if several else "")
    if it.is_summed:
        rows = replica_rows(grid, samples, it.names)
        write_replicas(folder / f"replicas-{engine}.jsonl", rows, len(replicas))
    return {
        "engine": engine, "replicas": len(replicas), "runs": runs, "by": list(it.by), "window_s": scope.window_s,
        "windows": windows, "start_s": start, "end_s": grid.edge(windows), "resolution_s": scope.resolution_s,
        "replicas_came": grid.came, "replicas_went": grid.went,
        "windows_with_restarts": len(grid.restarts),
    }  # fmt: skip


def _scope(it: Fetch, marker: str) -> tuple[ask.Scope, float, int]:
    """The grid that the address asks for, or a fitting one: windows between 12 and 60, whole scrape intervals."""
    address = it.address
    span = address.end - address.start
    interval = _scrape_interval(it, marker)
    window = address.window or next(
        (w for w in WINDOWS if span / w <= 60 and w >= interval), ceil(span / 60 / 86400) * 86400
    )
    resolution = address.resolution or next(r for r in range(max(1, floor(interval / 2)), 0, -1) if window % r == 0)
    if window % resolution:
        raise ServerError(f"resolution={resolution}s does not divide window={window}s")
    start = floor(address.start / window) * window
    windows = max(1, ceil((address.end - start) / window))
    return ask.Scope(address.match, address.replica, marker, window, address.lookback, resolution), start, windows


def _scrape_interval(it: Fetch, marker: str) -> float:
    """Seconds between the scrapes of the most scraped replica where it was scraped most."""
    address = it.address
    most = 0.0
    for seconds in PROBES_S:
        probe = ask.Scope(address.match, address.replica, marker, seconds, address.lookback, 1)
        start = max(address.start, address.end - PROBED_S)
        steps = max(1, ceil((address.end - start) / seconds))
        counts = it.server.over(ask.scrapes(probe, ()), start + seconds, start + steps * seconds, seconds)
        most = max((value for _, points in counts for _, value in points), default=0.0)
        if most > 1:
            return max(1.0, seconds / most)
    if most < 1:
        raise ServerError(f"{address.base}: {marker} has no sample between start and end; is the period right?")
    return float(PROBES_S[-1])


def _pages(it: Fetch, grid: Grid, samples: Sequence[Sample]) -> dict[Key, list[Page]]:
    """The pages of each group: one at every edge whose window holds a scrape, and what they hold."""
    scraped = grid.table(ask.scrapes(grid.scope, it.by))
    when = grid.table(ask.scraped_at(grid.scope, it.by))
    there = {part(key, it.by) for key in grid.table(grid_last(grid, it.by), [(0, 0)])}
    groups = {key: np.nan_to_num(row) > 0 for key, row in scraped.items()}
    for key, row in groups.items():
        row[0] = row[0] or key in there
    begins = {key: int(np.argmax(row)) for key, row in groups.items() if row.any()}
    starts = _process_starts(it, grid)
    found = {
        key: [Page.at(grid, when.get(key), int(index), starts.get(key)) for index in np.flatnonzero(groups[key])]
        for key in begins
    }
    early = _early_pages(it, grid, begins)
    for number, sample in enumerate(samples, 1):
        if number % 10 == 1:
            it.say(f"{engines.label(sample.engine)}: metric {number} of {len(samples)}")
        labels = sorted({*sample.labels, *it.by})
        if sample.is_counted:
            told = counter(grid, sample.on_server, labels, it.by, begins)
            _fill(found, told.value, sample.name, it.by)
            _fill_early(early, told.first, sample.name, it.by)
        else:
            combine = {"sum": "sum", "max": "max"}.get(sample.combine or "", "max" if sample.type == "info" else "min")
            query = ask.grouped(combine, labels, grid.scope.inside("last_over_time", sample.on_server))
            _fill(found, grid.table(query), sample.name, it.by)
            for at in sorted({page.at_s for page in early.values()}):
                then = {key_of(labels): np.array([points[-1][1]]) for labels, points in it.server.at(query, at)}
                _fill({key: [page] for key, page in early.items() if page.at_s == at}, then, sample.name, it.by)
    return {key: [*([early[key]] if key in early else []), *pages] for key, pages in found.items()}


def _early_pages(it: Fetch, grid: Grid, begins: Mapping[Key, int]) -> dict[Key, Page]:
    """A run that begins inside a window with several scrapes: its first scrape is a page too, the baseline."""
    new = grid.spans([begin for begin in set(begins.values()) if begin])
    several = grid.table(ask.scrapes(grid.scope, it.by), new) if new else {}
    first = grid.table(ask.first_scraped_at(grid.scope, it.by), new) if new else {}
    starts = _process_starts(it, grid)
    return {
        key: Page(0, float(first[key][begin]), starts.get(key), [])
        for key, begin in begins.items()
        if begin and key in first and np.isfinite(first[key][begin]) and several[key][begin] > 1
    }


def grid_last(grid: Grid, by: Sequence[str]) -> str:
    """By labels, whether the marker has a last value."""
    return ask.grouped("count", by, grid.scope.last(grid.scope.marker))


def _process_starts(it: Fetch, grid: Grid) -> dict[Key, float]:
    """The earliest process start of each group in the period; restarts are made good, so it is one for all pages."""
    if not grid.has_starts:
        return {}
    table = grid.table(ask.grouped("min", it.by, grid.scope.last("process_start_time_seconds")))
    return {key: float(np.nanmin(row)) for key, row in table.items()}


def _fill(pages: Mapping[Key, Sequence[Page]], table: Mapping[Key, Floats], name: str, by: Sequence[str]) -> None:
    for key, row in table.items():
        labels = tuple(pair for pair in key if pair[0] not in by)
        for page in pages.get(part(key, by), ()):
            if np.isfinite(row[page.index]):
                page.samples.append((name, labels, float(row[page.index])))


def _fill_early(early: Mapping[Key, Page], first: Mapping[Key, Floats], name: str, by: Sequence[str]) -> None:
    """Into the pages of first scrapes what the replicas of a new run brought with them."""
    for key, row in first.items():
        page = early.get(part(key, by))
        brought = row[np.isfinite(row)]
        if page is not None and len(brought):
            page.samples.append((name, tuple(pair for pair in key if pair[0] not in by), float(brought[0])))
