"""The queries that make a server compute reset-aware increases exactly, in what PromQL and MetricsQL share.

`increase()` is not used: it extrapolates from the samples inside a window to its edges. Here an increase is the
value at the end of a window less the value at its start, plus what was there before each fall: docs/decisions/0008.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """What every query of one fetch shares.

    `match` are label matchers; `replica` the labels that name a replica; `marker` a metric that every scrape of a
    replica holds; `window_s`, `lookback_s` and `resolution_s` are whole seconds (the last divides the first).
    """

    match: str
    replica: tuple[str, ...]
    marker: str
    window_s: int
    lookback_s: int
    resolution_s: int

    @property
    def reach_s(self) -> int:
        """How far back a last value is looked for: over the window, so that who left in it is still seen."""
        return self.window_s + self.lookback_s

    def selector(self, name: str, more: str = "") -> str:
        """The series of a metric, whatever characters its name has."""
        return "{" + ",".join(part for part in (f"__name__={quoted(name)}", self.match, more) if part) + "}"

    def last(self, name: str, before_s: int = 0, more: str = "") -> str:
        """The last value of each series, `before_s` ago."""
        offset = f" offset {before_s}s" if before_s else ""
        return f"last_over_time({self.selector(name, more)}[{self.reach_s}s]{offset})"

    def inside(self, function: str, name: str) -> str:
        """A function over the samples of a window without its left edge (which Prometheus 2 would include)."""
        return f"{function}({self.selector(name)}[{self.window_s * 1000 - 1}ms])"


def quoted(text: str) -> str:
    """A PromQL string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def grouped(combine: str, labels: Iterable[str], query: str) -> str:
    """An aggregation by labels."""
    return f"{combine} by ({', '.join(sorted(set(labels)))}) ({query})"


def sums(scope: Scope, name: str, labels: Sequence[str]) -> str:
    """The sum of last values by labels: its differences are the increases where no replica came, went or restarted."""
    return grouped("sum", labels, scope.last(name))


def increases(scope: Scope, name: str, labels: Sequence[str]) -> str:
    """Increases of a window by labels, falls not yet made good.

    A series that was there before: its difference. One that is new on a replica that was there: from zero. On a replica
    that is new itself: from what it brought with it, and from zero for a series that came later.
    """
    now, before = scope.last(name), scope.last(name, scope.window_s)
    known = f"({now} and on ({', '.join(scope.replica)}) {scope.last(scope.marker, scope.window_s)})"
    return grouped("sum", labels, f"({now} - {before}) or {known} or ({now} - {_brought(scope, name)}) or {now}")


def brought(scope: Scope, name: str, labels: Sequence[str]) -> str:
    """By labels, what replicas that came in a window had counted at their first scrape: a baseline, no increase."""
    return grouped("sum", labels, _brought(scope, name))


def _brought(scope: Scope, name: str) -> str:
    step = scope.resolution_s
    fresh = f"last_over_time({scope.selector(name)}[{step * 1000 - 1}ms])"
    found = f"{fresh} unless on ({', '.join(scope.replica)}) {scope.last(scope.marker, step)}"
    return f"sum_over_time(({found})[{scope.window_s * 1000 - 1}ms:{step}s])"


def falls(scope: Scope, name: str, labels: Sequence[str], replicas: Sequence[str], starts: bool) -> str:
    """By labels, the values that were there before each restart of a window, looked for every `resolution_s`.

    A restart is a fall of the series itself, or, where `starts`, a change of the replica's process start with a new
    value of the series. `replicas` narrows the search to the replicas that restarted.
    """
    more, step = _only(scope, replicas), scope.resolution_s
    here, before = scope.last(name, 0, more), scope.last(name, step, more)
    found = f"({before} and ({here} < {before}))"
    if starts:
        fresh = f"last_over_time({scope.selector(name, more)}[{step * 1000 - 1}ms])"
        start = "process_start_time_seconds"
        changed = f"({scope.last(start, 0, more)} != {scope.last(start, step, more)})"
        found += f" or (({before} and {fresh}) and on ({', '.join(scope.replica)}) {changed})"
    return grouped("sum", labels, f"sum_over_time(({found})[{scope.window_s * 1000 - 1}ms:{step}s])")


def _only(scope: Scope, replicas: Sequence[str]) -> str:
    if len(scope.replica) != 1 or not replicas or len(replicas) > 200:
        return ""
    return f"{scope.replica[0]}=~{quoted('|'.join(re.escape(name) for name in replicas))}"


def restarted(scope: Scope, name: str) -> str:
    """By replica, falls of a metric in a window or shortly before it."""
    return f"{grouped('sum', scope.replica, f'resets({scope.selector(name)}[{scope.reach_s}s])')} > 0"


def moved_start(scope: Scope) -> str:
    """By replica, changes of the process start in a window or shortly before it."""
    start = scope.selector("process_start_time_seconds")
    return f"{grouped('sum', scope.replica, f'changes({start}[{scope.reach_s}s])')} > 0"


def came(scope: Scope) -> str:
    """By replica: it is there at the end of a window and was not at its start."""
    here, before = scope.last(scope.marker), scope.last(scope.marker, scope.window_s)
    on = ", ".join(scope.replica)
    return grouped("count", scope.replica, f"{here} unless on ({on}) {before}")


def went(scope: Scope) -> str:
    """By replica: it was there at the start of a window and is not at its end."""
    here, before = scope.last(scope.marker), scope.last(scope.marker, scope.window_s)
    on = ", ".join(scope.replica)
    return grouped("count", scope.replica, f"{before} unless on ({on}) {here}")


def scrapes(scope: Scope, labels: Sequence[str]) -> str:
    """By labels, how many scrapes of its most scraped replica a window holds."""
    return grouped("max", labels, scope.inside("count_over_time", scope.marker))


def scraped_at(scope: Scope, labels: Sequence[str]) -> str:
    """By labels, when the last scrape was."""
    return grouped("max", labels, f"timestamp({scope.selector(scope.marker)})")


def first_scraped_at(scope: Scope, labels: Sequence[str]) -> str:
    """By labels, when the first scrape of a window was, looked for every `resolution_s`."""
    inside = f"[{scope.window_s * 1000 - 1}ms:{scope.resolution_s}s]"
    return grouped("min", labels, f"min_over_time(timestamp({scope.selector(scope.marker)}){inside})")
