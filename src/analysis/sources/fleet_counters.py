"""From a server's answers to one growing value a series: sums over replicas that never fall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.sources import fleet_queries as ask
from analysis.sources.prometheus_server import Series, Server, ServerError

Key = tuple[tuple[str, str], ...]
"""Labels in order."""
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Grid:
    """The edges of the windows (unix seconds), and in which windows replicas came, went or restarted.

    `moved` marks windows by the edge that ends them; `restarts` names for such an edge the replicas that restarted.
    """

    server: Server
    scope: ask.Scope
    start: float
    windows: int
    has_starts: bool
    moved: NDArray[np.bool_]
    restarts: dict[int, set[str]] = field(default_factory=dict)
    came: int = 0
    went: int = 0

    @classmethod
    def of(cls, server: Server, scope: ask.Scope, start: float, windows: int, has_starts: bool) -> "Grid":
        """A grid of which no movement is known yet; `has_starts`: the replicas export their process start."""
        return cls(server, scope, start, windows, has_starts, np.zeros(windows + 1, np.bool_))

    def edge(self, index: int) -> float:
        """Unix seconds of an edge."""
        return self.start + index * self.scope.window_s

    def index(self, at: float) -> int:
        """The edge at a time."""
        return round((at - self.start) / self.scope.window_s)

    def over(self, query: str, first: int = 0, last: int | None = None) -> list[Series]:
        """A range query from one edge to another (the last by default)."""
        end = self.windows if last is None else last
        return self.server.over(query, self.edge(first), self.edge(end), self.scope.window_s)

    def table(self, query: str, spans: Sequence[tuple[int, int]] | None = None) -> dict[Key, Floats]:
        """The answer by labels, one value an edge, NaN where there is none."""
        found: dict[Key, Floats] = {}
        for first, last in [(0, self.windows)] if spans is None else spans:
            for labels, points in self.over(query, first, last):
                row = found.setdefault(key_of(labels), np.full(self.windows + 1, np.nan))
                for at, value in points:
                    if not 0 <= (index := self.index(at)) <= self.windows:
                        raise ServerError(f"{self.server.base}: the answer has a time that was not asked for")
                    row[index] = value
        return found

    def find_movements(self, counters: Sequence[str]) -> None:
        """Mark the windows in which a replica came, went or restarted."""
        for query, is_arrival in ((ask.came(self.scope), True), (ask.went(self.scope), False)):
            for row in self.table(query).values():
                seen = np.isfinite(row)
                seen[0] = False
                self.moved |= seen
                self.came += int(is_arrival and seen.any())
                self.went += int(not is_arrival and seen.any())
        queries = [ask.moved_start(self.scope)] if self.has_starts else []
        for query in [*queries, *(ask.restarted(self.scope, name) for name in counters)]:
            for key, row in self.table(query).items():
                for index in np.flatnonzero(np.isfinite(row)):
                    if index:
                        self.restarts.setdefault(int(index), set()).add(dict(key).get(self.scope.replica[0], ""))
                        self.moved[index] = True

    def spans(self, indices: Sequence[int]) -> list[tuple[int, int]]:
        """Edges that follow each other, as (first, last)."""
        found: list[tuple[int, int]] = []
        for index in sorted(indices):
            if found and index == found[-1][1] + 1:
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found


@dataclass(frozen=True, slots=True)
class Counter:
    """One metric by labels: `value` grows by `increase` from edge to edge and starts from what was counted before.

    `first` is what new groups brought with them in their first window, by labels; NaN where a series is not there.
    """

    value: Mapping[Key, Floats]
    increase: Mapping[Key, Floats]
    first: Mapping[Key, Floats]


def counter(grid: Grid, name: str, labels: Sequence[str], group: Sequence[str], begins: Mapping[Key, int]) -> Counter:
    """The growing value of a metric by labels; `begins` says at which edge each group (by `group`) first shows.

    Where nothing moved, the difference of two sums is the increase, and one query tells all. Elsewhere the server
    matches series with themselves, and restarts are made good.
    """
    sums = grid.table(ask.sums(grid.scope, name, labels))
    fast = {key: _differences(row) for key, row in sums.items()}
    # A series may go while its replica stays (an adapter was unloaded): then the sum fell, too.
    fell = np.any([row < 0 for row in fast.values()], axis=0) if fast else np.zeros_like(grid.moved)
    slow = np.flatnonzero(grid.moved | fell)
    if not len(slow):
        return Counter({key: _forward(row) for key, row in sums.items()}, fast, {})
    spans = grid.spans([int(index) for index in slow])
    matched = grid.table(ask.increases(grid.scope, name, labels), spans)
    with_falls = [index for index in slow if index in grid.restarts or fell[index]]
    made_good = _falls(grid, name, labels, [int(index) for index in with_falls])
    new = [index for index in set(begins.values()) if index]
    first = grid.table(ask.brought(grid.scope, name, labels), grid.spans(new)) if new else {}
    value, increase = {}, {}
    for key in {**sums, **matched, **made_good}:
        steps = fast.get(key, np.zeros(grid.windows + 1)).copy()
        for rows, add in ((matched, False), (made_good, True)):
            row = np.nan_to_num(rows.get(key, np.zeros(grid.windows + 1)))
            steps[slow] = row[slow] + (steps[slow] if add else 0.0)
        increase[key] = steps
        value[key] = _grown(grid, key, sums.get(key), steps, first.get(key), group, begins)
    return Counter(value, increase, first)


def key_of(labels: Mapping[str, str]) -> Key:
    """Labels in order, without the metric's name."""
    return tuple(sorted((k, v) for k, v in labels.items() if k != "__name__"))


def part(key: Key, names: Sequence[str]) -> Key:
    """Of labels those of these names."""
    return tuple(pair for pair in key if pair[0] in names)


def _falls(grid: Grid, name: str, labels: Sequence[str], indices: Sequence[int]) -> dict[Key, Floats]:
    if not indices:
        return {}
    replicas = sorted({one for index in indices for one in grid.restarts.get(index, ())})
    return grid.table(ask.falls(grid.scope, name, labels, replicas, grid.has_starts), grid.spans(indices))


def _differences(row: Floats) -> Floats:
    """From edge to edge; a series that was not there counts from zero, one that is gone stays where it was."""
    return np.diff(np.nan_to_num(_forward(row)), prepend=np.nan_to_num(row[0]))


def _forward(row: Floats) -> Floats:
    """The last known value at each edge."""
    at = np.where(np.isnan(row), 0, np.arange(len(row)))
    return row[np.maximum.accumulate(at)]


def _grown(
    grid: Grid, key: Key, sums: Floats | None, steps: Floats, first: Floats | None, group: Sequence[str],
    begins: Mapping[Key, int],
) -> Floats:  # fmt: skip
    begin = begins.get(part(key, group), 0)
    base = 0.0
    if begin == 0 and sums is not None:
        base = float(np.nan_to_num(sums[0]))
    elif begin and first is not None:
        base = float(np.nan_to_num(first[begin]))
    grown = base + np.cumsum(steps)
    seen = (np.isfinite(sums) if sums is not None else np.zeros(len(steps), np.bool_)) | (steps > 0)
    known = np.maximum.accumulate(seen)
    return np.where(known & (np.arange(len(steps)) >= begin), grown, np.nan)
