"""The curves of "will the next boot start": memory, its prediction and the need along batch tokens and along length."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.kv_slope import Prediction, prediction
from analysis.findings.boot_risk import Memory, Risk, line_mean
from analysis.findings.kv_boots import GIB, KvBoot, Series, available, values
from analysis.findings.kv_request import Floor, floor
from analysis.findings.kv_tables import ROUTES

NEEDED = {
    "batch tokens": "it takes boots of one setting with two batch sizes that print the memory they were left",
    "context length": "it takes boots of one setting with two lengths, or a refused one, that print their memory; "
    "one length shows only the sum of a request's fixed part and its part for each token",
}
"""What a curve is made of, by what it goes along."""
POINTS = 24
"""Points of a curve inside what was tried; a quarter as many beyond it."""
_SCHEMA = {
    **dict.fromkeys(("group", "kind", "outcome"), pl.String),
    **dict.fromkeys(("x", "value", "low", "high"), pl.Float64),
    "extrapolated": pl.Boolean,
}  # fmt: skip
Row = dict[str, Any]


def along_batch(known: Memory) -> pl.DataFrame:
    """Rows for charts.memory_curve along batch tokens: a group a series with memory at two batch sizes or more."""
    rows: list[Row] = []
    for one in known.series:
        levels = sorted(set(one.values(available)[0]))
        if len(levels) > 1 and not one.is_pinned:
            group = _name(one.name, f"length {one.length:,}")
            predict, need = partial(_predicted, one.boots), partial(_need, known, one, length=one.length)
            rows += _curve(group, [(b.batch_tokens, b) for b in one.boots], levels, predict, need)
    return pl.DataFrame(rows, schema=_SCHEMA)


def along_length(known: Memory) -> pl.DataFrame:
    """The same along the context length: a group a population and batch size of which the need is known as a line."""
    rows: list[Row] = []
    for population, batch in sorted({(s.population, n) for s in known.series for n in s.levels}):
        of = [s for s in known.series if s.population == population]
        boots = [b for s in of for b in s.at(batch) if b.available_bytes is not None]
        line = [p for p in known.parts if (p.setting, p.batch) == (of[0].setting, batch) and p.is_known]
        if boots and line:
            group, memory = _name(of[0].name, f"{batch:,} batch tokens"), _predicted(boots, batch)
            lengths = sorted({float(b.length_tokens) for b in boots})
            need = partial(_need, known, of[0], batch)
            rows += _curve(group, [(b.length_tokens, b) for b in boots], lengths, partial(_same, memory), need)
    return pl.DataFrame(rows, schema=_SCHEMA)


def _need(known: Memory, one: Series, batch: float, length: float) -> Floor | str:
    return floor(one.setting, round(batch), round(length), known.cells, known.parts)


def _same(memory: Prediction | float | None, length: float) -> Prediction | float | None:
    """Memory does not depend on the length asked for: an assumption, which the page states."""
    del length
    return memory


def _curve(
    group: str, boots: list[tuple[int | None, KvBoot]], tried: list[float],
    predict: Callable[[float], Prediction | float | None], need: Callable[[float], Floor | str],
) -> list[Row]:  # fmt: skip
    rows = [
        _row(group, "boot", x, b.available_bytes, outcome=b.outcome)
        for x, b in boots
        if x is not None and b.available_bytes is not None
    ]
    inside = np.unique(np.round(np.append(np.linspace(tried[0], tried[-1], POINTS), tried)))
    beyond = np.round(np.linspace(tried[-1], 1.5 * tried[-1], POINTS // 4 + 1))
    for xs, is_beyond in ((inside, False), (beyond, True)):
        for x in map(float, xs):
            got = predict(x)
            if isinstance(got, Prediction):
                rows.append(_row(group, "prediction", x, got.mean, got.reach, beyond=is_beyond))
            elif got is not None:
                rows.append(_row(group, "prediction", x, got, beyond=is_beyond))
            floor_at = need(x)
            if isinstance(floor_at, Floor):
                rows.append(_row(group, "need", x, floor_at.bytes, outcome=floor_at.is_limit, beyond=is_beyond))
    return rows


def _row(
    group: str, kind: str, x: float | None, value: float | None, reach: float | None = None, *,
    outcome: str = "", beyond: bool = False,
) -> Row:  # fmt: skip
    low, high = (None, None) if reach is None or value is None else (min(value, max(value - reach, 0.0)), value + reach)
    gib = [None if v is None else v / GIB for v in (value, low, high)]
    return dict(zip(_SCHEMA, (group, kind, outcome, None if x is None else float(x), *gib, beyond), strict=True))


def _predicted(boots: Iterable[KvBoot], batch: float) -> Prediction | float | None:
    of = [b for b in boots if b.available_bytes is not None]
    x, y = values(of, available)
    got = prediction(x, y, batch, max((b.rounding_bytes for b in of), default=0.0))
    return got if isinstance(got, Prediction) else line_mean(x, y, batch)


def _name(population: str, where: str) -> str:
    return f"{where}; {population}" if population else where


def chances(answers: list[Risk]) -> pl.DataFrame:
    """Rows for charts.refusal_curve: the chance (%) at each batch size asked about, by route; a group a series."""
    rows = [
        {
            "group": _name(r.series.name, f"length {r.length:,}"), "route": _route(r, e.qualifiers["route"]),
            "x": float(r.batch), "value": Shown(e, 100 * e.value, "value"), "extrapolated": r.is_extrapolated,
        }
        for r in answers
        for e in r.routes
        if e.value is not None and len(r.series.levels) > 1
    ]  # fmt: skip
    texts = dict.fromkeys(("group", "route"), pl.String)
    return cells.frame(rows, {**texts, "x": pl.Float64, "value": pl.Float64, "extrapolated": pl.Boolean})


def _route(r: Risk, route: str) -> str:
    """The route, and whether its chance is only a limit there: the need is known as one."""
    return ROUTES[route] + (f", at {r.need_limit}" if r.need_limit and route == "available" else "")


def describe_curve(curve: pl.DataFrame, along: str) -> dict[str, str]:
    """Title, subtitle and text alternative of a memory curve."""
    boots = curve.filter(pl.col("kind") == "boot")
    said = [
        f"{group}: {outcome} at {x:,.0f} {along} with {value:.2f} GiB"
        for group, outcome, x, value in boots.select("group", "outcome", "x", "value").iter_rows()
    ]
    inside = curve.filter((pl.col("kind") == "need") & ~pl.col("extrapolated"))
    ends = inside.group_by("group", maintain_order=True).agg(
        pl.col("value").min().alias("least"),
        pl.col("value").max().alias("most"),
        pl.col("outcome").max().alias("limit"),
    )
    needs = [
        f"{group}: a longest request needs {_span(least, most, limit)} GiB inside what was tried"
        for group, least, most, limit in ends.iter_rows()
    ]
    refused = boots.filter(pl.col("outcome") == "refused").height
    return {
        "title": f"{boots.height} boots along {along}, {refused} of them refused"
        if said
        else f"No curve along {along}: {NEEDED.get(along, 'no boot prints its memory')}",
        "subtitle": "blue line and band: one more boot, 95 %; thick orange line: what one longest request needs; "
        "dashed: beyond what was tried",
        "description": f"Memory for the cache along {along}. " + "; ".join([*said, *needs] or ["no data"]),
    }


def _span(least: float, most: float, limit: str) -> str:
    low, high = f"{least:.3g}", f"{most:.3g}"
    return (f"at {limit} " if limit else "") + (low if low == high else f"{low} to {high}")


def describe_chances(table: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chances of a refusal."""
    said = [
        f"{group}, {route}: {value:.3g} % at {x:,.0f}" + (" (extrapolated)" if beyond else "")
        for group, route, x, value, beyond in table.select("group", "route", "x", "value", "extrapolated").iter_rows()
    ]
    chances = table.filter(pl.col("route") != ROUTES["seen"])  # how boots went is no chance of the next one
    risky = chances.filter(pl.col("value") > 5)["x"].n_unique()
    return {
        "title": f"{risky} of {chances['x'].n_unique()} batch sizes have a chance of refusal above one in twenty"
        if chances.height
        else "No chance of a refusal along batch tokens can be given: "
        + ("boots seen only" if said else "it takes boots of one setting with two batch sizes"),
        "subtitle": "%, by route; open points are extrapolated",
        "description": "Chance that a boot is refused along batch tokens. " + "; ".join(said or ["no data"]),
    }
