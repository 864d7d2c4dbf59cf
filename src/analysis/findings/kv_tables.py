"""Sentences, tables and text alternatives of "what a batch token costs": laid out, nothing computed anew."""

from collections.abc import Callable
from functools import partial

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.estimates.request_cost import BLOCK_ROUNDING
from analysis.estimates.rounding import show, show_number, show_value
from analysis.estimates.units import SMALL
from analysis.findings.boot_risk import Risk
from analysis.findings.kv_boots import GIB, Series
from analysis.findings.kv_cost import Step
from analysis.findings.kv_request import Floor
from analysis.findings.words import listed

ROUTES = {
    "available": "printed memory", "requests": "requests that fit", "two_point": "two points", "seen": "boots seen",
    "pinned": "memory that was set",
}  # fmt: skip


def headline(costs: list[Estimate], made: list[Step]) -> tuple[str, list[Estimate]]:
    """The answer on the cost of a batch token, and the figures it rests on."""
    if not made:
        why = next((e.reason for e in costs if e.reason), "nothing to compare") or ""
        return f"What a batch token costs cannot be said: {why.removeprefix('not computable: ')}.", costs[:1]
    boots = {id(s.series): len(s.series.boots) for s in made}
    one = max(made, key=lambda s: (boots[id(s.series)], s.higher - s.lower, -s.lower)).series
    of = [s for s in made if s.series is one and (s.lower, s.higher) == (one.levels[0], one.levels[-1])]
    of = of or [s for s in made if s.series is one]
    rests = [e for e in costs if e.qualifiers.get("max_model_len") == str(one.length)]
    rests = [e for e in rests if e.qualifiers.get("population", one.name) == one.name]
    return (_contradicted(of) if of[0].believed else _two_costs(of[0])), rests


def next_step(costs: list[Estimate], made: list[Step]) -> str:
    """What would give the cost of a batch token an interval, or a value."""
    if any(s.believed for s in made):
        return "boot one level twice more with unchanged arguments: two boots cannot say which of them tells the truth"
    if not any(e.value is not None for e in costs):
        return "boot the same setting at a second batch size, twice at each"
    if not any(e.low is not None for e in costs):
        return "boot one of the levels again: with one boot a level the scatter of boots is not known"
    return ""


def _two_costs(s: Step) -> str:
    grew = abs(s.need_grown) > BLOCK_ROUNDING * s.need[0]
    before, after = (show_number(need, "bytes") for need in s.need)
    need = f"{after} instead of {before}" if grew else f"{before} as before"
    said = (
        f"From {s.lower:,} to {s.higher:,} batch tokens (length {s.series.length:,}) the printed pool changes by "
        f"{100 * (s.requests[1] / s.requests[0] - 1):+.0f} %. The memory for the cache {_went(s)}, and one longest "
        f"request needs {need}: the change in tokens is {s.token_figure_shows}. {_beside(s)}"
    )
    if all(len(s.series.at(n)) == 1 for n in (s.lower, s.higher)):
        said += " With one boot a level the scatter of boots is not known."
    return said.replace("-", "\u2212")


def _went(s: Step) -> str:
    before, after = (f"{gib / GIB:.2f}" for gib in s.available)
    return f"stayed at {after} GiB" if before == after else f"went from {before} to {after} GiB"


def _beside(s: Step) -> str:
    if s.peak_grown is None:
        return "What the process takes beside the cache is another figure."
    moved = f"{'rose' if s.peak_grown > 0 else 'fell'} by {abs(s.peak_grown) / GIB:.2f} GiB"
    if moved.endswith(" 0.00 GiB"):
        moved = "stayed the same"
    return f"Peak memory of the engine's processes {moved}."


def _contradicted(of: list[Step]) -> str:
    taken = sorted(s.memory_taken / GIB for s in of)
    total = sorted((s.memory_taken + s.by_need) / GIB for s in of)
    return (
        f"To fit as many longest requests at {of[0].higher:,} batch tokens as at {of[0].lower:,} would take "
        f"{total[0]:.1f} to {total[-1]:.1f} GiB more; how much of it is memory taken from the cache cannot be said "
        f"({taken[0]:.2f} to {taken[-1]:.2f} GiB, depending on which boot you trust): boots of one configuration "
        "contradict each other on what a request needs."
    )


def cost_table(costs: list[Estimate], lost: list[Estimate], of: list[Series]) -> pl.DataFrame:
    """One row a series and route: cost of a batch token with its interval or why there is none, and boots per level."""
    per_level = {(s.name, s.length): ", ".join(f"{len(s.at(n))} at {n:,}" for n in s.levels) for s in of}
    rows = [
        {
            "boots": series_of(e), "length": e.qualifiers.get("max_model_len"),
            "route": ROUTES.get(e.qualifiers.get("route", ""), "requests lost (1/token)"),
            "cost of a batch token": Shown(e, None if e.value is None else show(e)),
            "why none": None if e.value else cells.reason(e),
            "boots per level": _levels(e, per_level), "read with it": "; ".join(e.warnings) or None,
        }
        for e in (*costs, *lost)
    ]  # fmt: skip
    return cells.frame(rows, dict.fromkeys(
        ("boots", "length", "route", "cost of a batch token", "why none", "boots per level", "read with it"), pl.String
    ))  # fmt: skip


def series_of(e: Estimate) -> str:
    """The boots that a figure is about."""
    return e.qualifiers.get("population") or e.qualifiers.get("setting") or "all boots"


def _levels(e: Estimate, per_level: dict[tuple[str, int], str]) -> str | None:
    length = e.qualifiers.get("max_model_len")
    found = [text for (name, its), text in per_level.items() if str(its) == length
             and e.qualifiers.get("population", name) == name]  # fmt: skip
    return max(found, key=len, default=None)


def chance(e: Estimate | None) -> str | None:
    """A chance as text; None where it was not asked for; far tails of few boots without their false digits."""
    if e is None or e.value is None:
        return None if e is None else "not known"
    return show(e) if e.low is not None else show_value(e)


def limited(r: Risk, e: Estimate | None) -> str | None:
    """The chance of a route of an answer as text: "at most 62 %" where the need that it was held against is a limit."""
    said = chance(e)
    if e is None or e.value is None or not r.need_limit or e.qualifiers["route"] not in ("available", "pinned"):
        return said
    return f"at {r.need_limit} {said}"


def risk_table(answers: list[Risk]) -> pl.DataFrame:
    """One row a setting: the chance of a refusal by each route, what was seen, and the word for it."""
    rows = []
    for r in answers:
        by = {e.qualifiers["route"]: e for e in r.routes}
        rows.append({
            "boots": r.series.name or "all boots", "length": r.length, "batch tokens": r.batch,
            "by memory": _of(by.get("available") or by.get("pinned"), partial(limited, r)),
            "by requests": _of(by.get("requests"), chance),
            "refused of seen": Shown(by["seen"], f"{r.refused} of {r.seen}") if r.seen else None,
            "word": r.verdict.replace("_", " "), "extrapolated": r.is_extrapolated, "why": why(r) or None,
        })  # fmt: skip
    texts = ("boots", "by memory", "by requests", "refused of seen", "word", "why")
    names = (
        "boots",
        "length",
        "batch tokens",
        "by memory",
        "by requests",
        "refused of seen",
        "word",
        "extrapolated",
        "why",
    )
    kinds = {n: pl.String if n in texts else pl.Boolean if n == "extrapolated" else pl.Int64 for n in names}
    return cells.frame(rows, kinds)


def _of(e: Estimate | None, said: Callable[[Estimate | None], str | None]) -> Shown | None:
    return None if e is None else Shown(e, said(e))


def why(r: Risk) -> str:
    """What keeps a setting from a clear word, or what must be read with it."""
    missing = [(e.reason or "").removeprefix("not computable: ") for e in r.routes if e.value is None]
    beyond = ["extrapolated"] if r.is_extrapolated else []
    return "; ".join(dict.fromkeys([*beyond, *r.notes, *missing]))


SAFE = "Safe is at most one refusal in twenty boots, by every route"


def risk_sentence(answers: list[Risk]) -> str:
    """The answer on the next boot: what is safe and what is not, and the closest call that was not tried."""
    if not answers:
        return "Whether the next boot starts cannot be said: no boot log prints its batch tokens with its memory."
    safe, risky = _some(answers, "safe"), _some(answers, "risky")
    untold = sum(r.verdict == "cannot_tell" for r in answers)
    settings = "setting" if len(answers) == 1 else "settings"
    said = f"Of {len(answers)} {settings} looked at, {safe} safe and {risky} risky"
    said += f"; of {untold} it cannot be told" if untold else ""
    said += f". {SAFE}" if safe != "none is" else ""
    if (call := closest(answers)) is None:
        return f"{said}."
    where = f"{call.batch:,} batch tokens at length {call.length:,}{_population(call)}"
    if call.refused:
        return f"{said}. Boots with {where} were refused {_times(call)}{_elsewhere(call, answers)}."
    return f"{said}. The closest call is {where}: {_chances(call)}."


def _population(r: Risk) -> str:
    """What tells the boots that are spoken of from others of the same batch size and length."""
    had = [b.available_bytes for b in r.series.boots if b.available_bytes is not None]
    if not r.series.is_pinned or not had:
        return f" ({r.series.name})" if r.series.name else ""
    ends = dict.fromkeys(f"{size / GIB:.2f}" for size in (min(had), max(had)))
    need = f", where one longest request needs {r.floor.bytes / GIB:.2f} GiB," if isinstance(r.floor, Floor) else ""
    return f" and {' to '.join(ends)} GiB set for the cache{need}"


def _elsewhere(call: Risk, answers: list[Risk]) -> str:
    """Boots of another population that started with the same batch size and length."""
    alike = [r for r in answers if (r.batch, r.length) == (call.batch, call.length) and r.seen > r.refused]
    said = [f"{r.seen - r.refused} of {r.seen} started ({r.series.name or 'others'})" for r in alike if r is not call]
    return f"; with other memory settings {listed(said)}" if said else ""


def _times(r: Risk) -> str:
    if r.refused < r.seen:
        return f"{r.refused} of {r.seen} times"
    return {1: "the one time that it was tried", 2: "both times"}.get(r.seen, f"all {r.seen} times")


def _some(answers: list[Risk], verdict: str) -> str:
    """How many answers have this verdict, with their verb: "none is", "1 is", "4 are"."""
    n = sum(r.verdict == verdict for r in answers)
    return "none is" if n == 0 else f"{n} {'is' if n == 1 else 'are'}"


def closest(answers: list[Risk]) -> Risk | None:
    """The setting nearest to a refusal that was not tried and lies inside what was; else one that was refused."""
    inside = [r for r in answers if r.chances and not r.is_extrapolated and not r.seen and r.chances[-1] > SMALL]
    tried = [r for r in answers if r.refused]
    return max(inside or tried, key=lambda r: r.chances[-1] if r.chances else 1.0, default=None)


def _chances(r: Risk) -> str:
    routes = {e.qualifiers["route"]: e for e in r.routes if e.value is not None and e.qualifiers["route"] != "seen"}
    said = sorted((e.value or 0.0, limited(r, e) or "", ROUTES[route]) for route, e in routes.items())
    if len({text for _, text, _ in said}) == 1:
        return f"refused with a chance of {said[0][1]}"
    return "refused with a chance of " + ", or ".join(f"{text} by {route}" for _, text, route in said)
