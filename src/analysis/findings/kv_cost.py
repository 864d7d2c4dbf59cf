"""What a batch token costs: memory taken from the cache, and requests that grow; two costs that a token figure mixes.

With A the memory for the cache, N the need of one longest request and A/N the requests that fit, going from one level
of max_num_batched_tokens to a higher one costs

    A0/N0 x N1 - A1  =  (A0 - A1)  +  A0/N0 x (N1 - N0)

bytes: what would have to be added at the higher level to fit as many requests as before. The first term is memory that
the batch tokens took from the cache. The second is no memory lost: each request needs more of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import log
from statistics import fmean, median

import duckdb
from scipy import stats

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.inputs import CONFIDENCE
from analysis.estimates.kv_slope import slope
from analysis.estimates.request_cost import BLOCK_ROUNDING
from analysis.estimates.rounding import show_value
from analysis.findings.kv_boots import FINDING, Cell, KvBoot, Series, available, lines, qualifiers, requests

MOST_BELIEVED = 16
"""Pairs of boots shown where the boots of a level contradict each other."""


@dataclass(frozen=True)
class Step:
    """From one level of batch tokens to a higher one, at one length; `believed`: which boots' memory is taken for true.

    Bytes: memory for the cache, and need of one longest request, at both levels. `requests` fit at the lower one.
    """

    series: Series
    lower: int
    higher: int
    believed: str
    available: tuple[float, float]
    need: tuple[float, float]

    @property
    def requests(self) -> tuple[float, float]:
        """Longest requests that fit at both levels."""
        return self.available[0] / self.need[0], self.available[1] / self.need[1]

    @property
    def memory_taken(self) -> float:
        """Bytes that the cache has less."""
        return self.available[0] - self.available[1]

    @property
    def need_grown(self) -> float:
        """Bytes that one longest request needs more."""
        return self.need[1] - self.need[0]

    @property
    def by_need(self) -> float:
        """Bytes that the requests which fitted before need more, all together."""
        return self.requests[0] * self.need_grown

    @property
    def share_by_need(self) -> float | None:
        """Share of the loss of requests (on logarithms) that is growth of the need; None where none were lost."""
        lost = log(self.requests[0] / self.requests[1])
        return log(self.need[1] / self.need[0]) / lost if abs(lost) > BLOCK_ROUNDING else None

    @property
    def peak_grown(self) -> float | None:
        """Bytes that the engine's processes held more at their peak; None where a boot's was not recorded."""
        peaks = [[b.peak_bytes for b in self.series.at(n)] for n in (self.lower, self.higher)]
        known = [[p for p in of if p is not None] for of in peaks]
        return fmean(known[1]) - fmean(known[0]) if peaks == known else None

    @property
    def token_figure_shows(self) -> str:
        """Which of the two costs a figure in tokens shows for this step."""
        need_moved = abs(self.need_grown) > BLOCK_ROUNDING * self.need[0]
        share = self.share_by_need
        if share is None:
            return "neither: as many requests fit" if not need_moved else "neither alone: the two cancel"
        if not need_moved:
            return "memory taken from the cache"
        if share >= 1 - 2 * BLOCK_ROUNDING:
            return "growth of each request; no memory was taken from the cache's budget"
        return f"both: {100 * (1 - share):.0f} % memory taken, {100 * share:.0f} % growth of each request"


def of_cell(found: Iterable[Cell], one: Series, batch: int) -> Cell | None:
    """The cell of a series' setting and length at a batch size."""
    return next((c for c in found if (c.setting, c.length, c.batch) == (one.setting, one.length, batch)), None)


def steps(one: Series, found: list[Cell]) -> list[Step]:
    """Every pair of levels of a series whose memory and need are known; one a believed boot where boots contradict."""
    made = []
    for lower, higher in combinations(one.levels, 2):
        sides = [_sides(one, found, batch) for batch in (lower, higher)]
        several = [len(side) > 1 for side in sides]
        for low, high in list(product(*sides))[:MOST_BELIEVED]:
            believed = ", ".join(side[0] for side, many in zip((low, high), several, strict=True) if many)
            made.append(Step(one, lower, higher, believed, (low[1], high[1]), (low[2], high[2])))
    return made


def _sides(one: Series, found: list[Cell], batch: int) -> list[tuple[str, float, float]]:
    """What a level had and needed: one row, or one a boot where its boots contradict each other."""
    cell, boots = of_cell(found, one, batch), [b for b in one.at(batch) if (b.available_bytes or 0) > 0]
    if cell is None or not boots:
        return []
    if not cell.is_broken:
        return [("", fmean(b.available_bytes or 0.0 for b in boots), cell.need)]
    return [(b.boot, b.available_bytes or 0.0, b.need_bytes) for b in boots if b.need_bytes]


def contradiction(one: Series, found: list[Cell]) -> str | None:
    """Why no bytes per token may be stated for a series: which of its levels has boots that contradict each other."""
    broken = [c for batch in one.levels if (c := of_cell(found, one, batch)) is not None and c.is_broken]
    if not broken:
        return None
    worst = max(broken, key=lambda c: c.agreement.value or 0)
    return (
        f"withheld: available x length / pool must be one number for boots of one configuration, and at "
        f"{worst.batch:,} batch tokens it differs by {show_value(worst.agreement)} between "
        f"{len(worst.boots)} boots; the printed memory is not what sized the pool, or the configurations differ"
    )


def costs(connection: duckdb.DuckDBPyConnection, of: list[Series], found: list[Cell]) -> list[Estimate]:
    """kv.cost_per_batch_token of each series with two levels or more, by three routes; withheld where boots contradict.

    `available`: slope of the printed memory. `requests`: slope of the requests that fit, times the need at the highest
    level. `two_point`: the middle boots of the lowest and the highest level, as in the published arithmetic.
    """
    several = [s for s in of if len(s.levels) > 1 and not s.is_pinned]
    if not several:
        missing = _missing(of)
        return [
            not_computable("bytes/token", missing).named("kv.cost_per_batch_token", FINDING, route=route)
            for route in ("available", "requests", "two_point")
        ]
    made = []
    for one in several:
        names, why, evidence = qualifiers(one, several), contradiction(one, found), lines(connection, one.boots)
        for route, estimate in raw_costs(one, found).items():
            if why is not None and route != "two_point":
                estimate = no_interval(
                    None, "bytes/token", estimate.method, f"not computable: {why}", n=estimate.n, n_of="boots"
                )
            estimate = (
                estimate.with_warnings(why.partition(": ")[2]) if why is not None and route == "two_point" else estimate
            )
            made.append(
                estimate.with_evidence(*evidence).named("kv.cost_per_batch_token", FINDING, route=route, **names)
            )
    return made


def raw_costs(one: Series, found: list[Cell]) -> dict[str, Estimate]:
    """The three routes of a series, whether or not its boots agree: `costs` says which may be stated."""
    top = of_cell(found, one, one.levels[-1])
    by_memory = _positive_cost(slope(*one.values(available), "bytes/token"))
    lost = slope(*one.values(requests), "1/token")
    if top is None or top.is_broken:
        missing = f"the need of a request at {one.levels[-1]:,} batch tokens is not known"
        by_requests = two_point = not_computable("bytes/token", missing)
    else:
        by_requests = replace(_positive_cost(_scaled(lost, top.need)), unit="bytes/token").with_warnings(
            f"memory to be added at {one.levels[-1]:,} batch tokens to fit as many requests as before: it holds the "
            "growth of each request's need, not only memory taken from the cache"
        )
        two_point = _two_point(one, top)
    return {"available": by_memory, "requests": by_requests, "two_point": two_point}


def requests_lost(connection: duckdb.DuckDBPyConnection, of: list[Series]) -> list[Estimate]:
    """kv.requests_lost_per_batch_token of each series: how many fewer longest requests fit; needs no bytes at all."""
    several = [s for s in of if len(s.levels) > 1 and not s.is_pinned and s.values(requests)[0]]
    return [
        _positive_cost(slope(*one.values(requests), "1/token"))
        .with_evidence(*lines(connection, one.boots))
        .named("kv.requests_lost_per_batch_token", FINDING, **qualifiers(one, several))
        for one in several
    ]


def _two_point(one: Series, top: Cell) -> Estimate:
    low, high = one.levels[0], one.levels[-1]
    fitted = [b.requests for b in one.at(low) if b.requests]
    left = [b.available_bytes for b in one.at(high) if b.available_bytes is not None]
    if not fitted or not left:
        return not_computable("bytes/token", "a pool at the lowest level and memory at the highest")
    value = (median(fitted) * top.need - median(left)) / (high - low)
    return no_interval(
        value, "bytes/token", "pool at one level x need at the other - memory at the other",
        "it takes one boot a level for the truth", n=2, n_of="boots",
        warnings=(
            f"mixes two configurations: the pool at {low:,} batch tokens is taken at the need of a request at {high:,}",
        ),
    )  # fmt: skip


def memory_taken(connection: duckdb.DuckDBPyConnection, step: Step, among: list[Series]) -> Estimate:
    """kv.memory_taken: how much less memory the cache had at the higher level, Welch's t where both have two boots."""
    samples = [[b.available_bytes for b in step.series.at(n) if b.available_bytes] for n in (step.lower, step.higher)]
    names = {"from_batch_tokens": str(step.lower), "batch_tokens": str(step.higher), **qualifiers(step.series, among)}
    n, method = min(map(len, samples)), "difference of mean memory, Welch's t over boots"
    boots = [*step.series.at(step.lower), *step.series.at(step.higher)]
    if n < 2 or max(max(s) - min(s) for s in samples) <= 0:
        why = "one boot at a level" if n < 2 else "the boots of each level are identical to the last digit"
        got = no_interval(step.memory_taken, "bytes", method, why, n=n, n_of="boots per level")
    else:
        ends = stats.ttest_ind(*samples, equal_var=False).confidence_interval(CONFIDENCE)
        got = Estimate(
            step.memory_taken, "bytes", "estimate", method, float(ends.low), float(ends.high), CONFIDENCE, n,
            "boots per level", "boots are independent",
        )  # fmt: skip
    return got.with_evidence(*lines(connection, boots)).named("kv.memory_taken", FINDING, **names)


def need_grown(connection: duckdb.DuckDBPyConnection, step: Step, found: list[Cell], among: list[Series]) -> Estimate:
    """kv.need_grown: how much more one longest request needs at the higher level; a bound, by the logs' rounding."""
    pair = [of_cell(found, step.series, n) for n in (step.lower, step.higher)]
    names = {"from_batch_tokens": str(step.lower), "batch_tokens": str(step.higher), **qualifiers(step.series, among)}
    off = sum(c.need_rounding for c in pair if c is not None)
    boots: list[KvBoot] = [b for c in pair if c is not None for b in c.boots]
    return (
        Estimate(step.need_grown, "bytes", "bound", "available x length / pool, higher less lower level",
                 step.need_grown - off, step.need_grown + off, n=len(boots), n_of="boots",
                 assumption="the available memory logged is the memory that sized the pool")
        .with_evidence(*lines(connection, boots))
        .named("kv.need_grown", FINDING, **names)
    )  # fmt: skip


def two_costs(connection: duckdb.DuckDBPyConnection, made: list[Step], found: list[Cell]) -> list[Estimate]:
    """kv.memory_taken and kv.need_grown of every step whose boots do not contradict each other."""
    among = [step.series for step in made]
    return [
        estimate
        for step in made
        if not step.believed
        for estimate in (memory_taken(connection, step, among), need_grown(connection, step, found, among))
    ]


def _missing(of: list[Series]) -> str:
    if not of:
        return "no boot log prints its max_num_batched_tokens with memory for the cache or a pool"
    if all(s.is_pinned for s in of):
        return "the memory of every boot was set, not profiled: it does not answer to the batch tokens"
    levels = sorted({n for s in of for n in s.levels})
    if len(levels) == 1:
        return f"every boot has {levels[0]:,} batch tokens: boots at a second level are missing"
    return "no two boots differ in their batch tokens alone: length, setting, host or compile cache differ with them"


def _positive_cost(estimate: Estimate) -> Estimate:
    """A falling line as a cost."""
    return _scaled(estimate, -1.0)


def _scaled(e: Estimate, factor: float) -> Estimate:
    value, low, high = (None if x is None else factor * x for x in (e.value, e.low, e.high))
    return replace(e, value=value, low=high if factor < 0 else low, high=low if factor < 0 else high)
