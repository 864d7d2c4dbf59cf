"""Whether the next boot of a setting will start: the chance that it is refused, by every route that the logs allow.

A boot is refused when the memory for the cache is less than what one longest request needs. `available` predicts the
memory at the batch size asked about and holds it against the need there. `requests` predicts how many longest requests
fit, a number that holds both costs of a batch token, and holds it against one. `seen` counts the boots that were made
at this very setting. `pinned`: memory that was set has no scatter; it suffices or it does not.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, sqrt
from statistics import fmean

import duckdb
from scipy import stats

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.kv_slope import Prediction, prediction, refusal_probability_from
from analysis.estimates.share_edge import share
from analysis.findings.kv_boots import (
    FINDING,
    Cell,
    KvBoot,
    Series,
    available,
    cells,
    lines,
    load,
    qualifiers,
    requests,
    series,
    values,
)
from analysis.findings.kv_cost import contradiction
from analysis.findings.kv_request import Floor, Parts, floor, parts

SAFE = 0.05
"""At most this chance of a refusal by every route, inside what was tried, is called safe."""
SCATTERS = (0.02, 0.05, 0.10, 0.20)
"""Relative scatters of boots for which the chance is shown where none was measured, or too few boots measured it."""
MOST_BOOTS = 30
EXTRAPOLATED = "extrapolated: no boot was made at or beyond this"


@dataclass(frozen=True)
class Memory:
    """What a study says about memory: its boots, their cells and series, and the parts of a request."""

    boots: list[KvBoot]
    cells: list[Cell]
    series: list[Series]
    parts: list[Parts]


@dataclass(frozen=True)
class Risk:
    """The answer for one population, batch size and length."""

    series: Series
    batch: int
    length: int
    routes: tuple[Estimate, ...]
    predicted: Prediction | None
    floor: Floor | str
    is_extrapolated: bool
    seen: int
    refused: int
    notes: tuple[str, ...] = field(default=())

    @property
    def chances(self) -> list[float]:
        """The chances that could be computed, lowest first; not the count of what was seen."""
        return sorted(e.value for e in self.routes if e.value is not None and e.qualifiers["route"] != "seen")

    @property
    def verdict(self) -> str:
        """safe, risky or cannot_tell: by all routes alike, so by none missing; never safe beyond what was tried.

        A chance that is only a limit votes on its own side: at most 62 % is not risky, at least 1 % is not safe.
        """
        if self.refused:
            return "risky"
        if len(self.chances) < (1 if self.series.is_pinned else 2) or self.chances[0] <= SAFE < self.chances[-1]:
            return "cannot_tell"
        if self.chances[0] > SAFE:
            return "cannot_tell" if self.need_limit == "most" else "risky"
        return "cannot_tell" if self.is_extrapolated or self.need_limit == "least" else "safe"

    @property
    def need_limit(self) -> str:
        """`most` or `least` where the need, and so the chance by memory, is only known to be at most or least that."""
        return self.floor.is_limit if isinstance(self.floor, Floor) else ""

    @property
    def margin(self) -> float | None:
        """Predicted memory less the need (bytes)."""
        if self.predicted is None or isinstance(self.floor, str):
            return None
        return self.predicted.mean - self.floor.bytes


def memory(connection: duckdb.DuckDBPyConnection) -> Memory:
    """Everything that the other functions ask about, read once."""
    boots = load(connection)
    found = cells(boots)
    return Memory(boots, found, series(boots), parts(connection, boots, found))


def risk(connection: duckdb.DuckDBPyConnection, known: Memory, one: Series, batch: int, length: int) -> Risk:
    """kv.refusal_probability of a population at a batch size and length, by every route."""
    need = floor(one.setting, batch, length, known.cells, known.parts)
    boots = [b for b in known.boots if b.population == one.population and b.batch_tokens is not None]
    same = [b for b in boots if b.length_tokens == length]
    made = [b for b in same if b.batch_tokens == batch and b.outcome in ("served", "refused")]
    refused = sum(b.outcome == "refused" for b in made)
    got: dict[str, Estimate] = {}
    predicted: Prediction | None = None
    used = same
    if one.is_pinned:
        got["pinned"] = _pinned(boots, need)
    else:
        used = same if not isinstance(_predicted(same, batch), str) else boots
        predicted, got["available"] = _by_memory(used, batch, need)
        if same:
            got["requests"] = _by_requests(one if one.length == length else _at_length(known, one, length), batch)
    if made:
        got["seen"] = share(refused, len(made), "boots")
    # A pinned cache is not touched by larger steps; what the engine takes beside it is, and nobody has seen it there.
    outside = _is_outside(boots if one.is_pinned else used, batch)
    outside = outside or (isinstance(need, Floor) and need.is_extrapolated)
    notes = _notes(known, one, need, len(used) == len(same) or predicted is None)
    risk = Risk(one, batch, length, (), predicted, need, outside and not made, len(made), refused, notes)
    names = {**qualifiers(one, known.series), "batch_tokens": str(batch), "max_model_len": str(length)}
    evidence = lines(connection, used)
    warned = (*notes, EXTRAPOLATED) if risk.is_extrapolated else notes
    routes = tuple(
        (e if route == "seen" else e.with_warnings(*warned))
        .with_evidence(*evidence)
        .named("kv.refusal_probability", FINDING, route=route, **names)
        for route, e in got.items()
    )
    word = replace(risk, routes=routes).verdict
    return replace(risk, routes=tuple(replace(e, verdict=word) for e in routes))


def _predicted(boots: list[KvBoot], batch: int) -> Prediction | str:
    rounding = max((b.rounding_bytes for b in boots if b.available_bytes is not None), default=0.0)
    return prediction(*values(boots, available), batch, rounding)


def _by_memory(boots: list[KvBoot], batch: int, need: Floor | str) -> tuple[Prediction | None, Estimate]:
    got = _predicted(boots, batch)
    if isinstance(got, str):
        return None, no_interval(None, "1", "t prediction", f"not computable: {_said(got)}", n_of="boots")
    if isinstance(need, str):
        return got, no_interval(None, "1", "t prediction", f"not computable: {need}", n=got.n, n_of="boots")
    chance = refusal_probability_from(got.mean, need.bytes, got.sd, got.df, got.factor)
    return got, chance.with_warnings(*got.notes)


def _by_requests(one: Series, batch: int) -> Estimate:
    top = one.levels[-1]
    if batch > top >= one.length:
        why = (
            f"a request has at most its {one.length:,} tokens in flight: past that the fall of requests does not go on"
        )
        return no_interval(None, "1", "t prediction", f"not computable: {why}", n_of="boots")
    x, y = one.values(requests)
    rounding = max(
        (b.rounding_bytes / b.need_bytes for b in one.boots if b.need_bytes and b.available_bytes is not None),
        default=0.0,
    )
    got = prediction(x, y, batch, rounding)
    if isinstance(got, str):
        return no_interval(None, "1", "t prediction", f"not computable: {_said(got)}", n=len(x), n_of="boots")
    return refusal_probability_from(got.mean, 1.0, got.sd, got.df, got.factor).with_warnings(*got.notes)


def _pinned(boots: list[KvBoot], need: Floor | str) -> Estimate:
    had = [b for b in boots if b.available_bytes is not None]
    method = "memory that was set, against the need"
    if isinstance(need, str) or not had:
        why = need if isinstance(need, str) else "the memory that was set is not printed"
        return no_interval(None, "1", method, f"not computable: {why}", n=len(boots), n_of="boots")
    least, most = min(b.available_bytes or 0.0 for b in had), max(b.available_bytes or 0.0 for b in had)
    rounding = max(b.rounding_bytes for b in had)
    if least - rounding < need.bytes <= most + rounding:
        return no_interval(None, "1", method, "memory and need are equal to the log's rounding", n_of="boots")
    return Estimate(float(most < need.bytes), "1", "identity", method, n=len(had), n_of="boots",
                    assumption="the next boot is given the same memory")  # fmt: skip


def _at_length(known: Memory, one: Series, length: int) -> Series:
    return next(s for s in known.series if s.population == one.population and s.length == length)


def _said(why: str) -> str:
    return {
        "one level": "boots at another batch size are missing, and none was made at this one twice",
        "one boot per level": "one boot per level: the scatter of boots was not measured; boot one level again",
    }.get(why, why)


def _is_outside(boots: list[KvBoot], batch: int) -> bool:
    levels = [b.batch_tokens for b in boots if b.batch_tokens is not None]
    return not levels or not min(levels) <= batch <= max(levels)


def _notes(known: Memory, one: Series, need: Floor | str, has_length: bool) -> tuple[str, ...]:
    found = (
        [] if has_length else ["boots of other lengths were used too: memory is assumed not to depend on the length"]
    )
    if isinstance(need, Floor) and need.is_limit:
        found.append(f"the need was not measured here: {need.how}")
    if (why := contradiction(one, known.cells)) is not None:
        found.append("the routes differ because the logs contradict themselves: " + why.partition(": ")[2])
    return tuple(found)


def targets(one: Series) -> list[int]:
    """Batch sizes that a page answers for: those tried, the middles between them, and twice the highest."""
    levels = one.levels
    middles = [(a + b) // 2 for a, b in pairwise(levels)]
    return sorted({*levels, *middles, *([2 * levels[-1]] if len(levels) > 1 else [])})


def answers(connection: duckdb.DuckDBPyConnection, known: Memory) -> list[Risk]:
    """The answer for every series at each of its targets."""
    return [
        risk(connection, known, one, batch, one.length) for one in known.series for batch in targets(one)
    ]  # fmt: skip


def asked(connection: duckdb.DuckDBPyConnection, known: Memory, batch: int, length: int | None) -> list[Risk]:
    """The answer for each population at a batch size, at one length or at each that the population was booted with."""
    found: list[Risk] = []
    for one in known.series:
        if length is None or one is next(s for s in known.series if s.population == one.population):
            found.append(risk(connection, known, one, batch, length or one.length))
    return found


def what_if(one: Risk) -> list[tuple[float, float]]:
    """The chance for several scatters of boots (relative, taken as known), at the predicted memory and the need."""
    if isinstance(one.floor, str):
        return []
    mean = one.predicted.mean if one.predicted is not None else line_mean(*one.series.values(available), one.batch)
    if mean is None or mean <= 0:
        return []
    chances = [(cv, refusal_probability_from(mean, one.floor.bytes, cv * mean, inf).value) for cv in SCATTERS]
    return [(cv, chance) for cv, chance in chances if chance is not None]


def line_mean(x: list[float], y: list[float], at: float) -> float | None:
    """The measure at a batch size on a straight line through boots whose scatter is not known; None off one level."""
    if not x:
        return None
    if len(set(x)) == 1:
        return fmean(y) if x[0] == at else None
    fit = stats.linregress(x, y)
    return float(fit.intercept + fit.slope * at)


def boots_to_settle(one: Risk) -> int | None:
    """How many boots at this very setting would show it safe, if they scatter as the others around the prediction."""
    if one.predicted is None or one.margin is None or one.margin <= 0:
        return None
    for n in range(2, MOST_BOOTS + 1):
        if stats.t.cdf(-one.margin / (one.predicted.sd * sqrt(1 + 1 / n)), n - 1) <= SAFE:
            return n
    return None
