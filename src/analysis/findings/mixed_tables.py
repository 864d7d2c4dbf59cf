"""Sentences, tables and text alternatives of page 60: laid out, nothing computed anew."""

from collections.abc import Iterator
from math import log

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.estimates.inputs import Floats
from analysis.estimates.quantile_values import least_n
from analysis.estimates.rounding import show, show_number, show_value
from analysis.estimates.tails import LEAST_BLOCKS_TAIL
from analysis.findings.class_groups import ALONE, Group, beside
from analysis.findings.mixed_effect import LEAST_VISITS, joined, split
from analysis.findings.mixed_quantiles import of_requests, point
from analysis.findings.objective import Objective
from analysis.findings.words import MOST

NO_CLASS = (
    "no request says which class it is of; send `class` (chat, batch) and `phase` with each, "
    "or name files by class in study.toml ([classes.<name>])"
)
WHAT = {
    "mixed.ttft": "first token", "mixed.inter_token": "gap", "mixed.completion": "completion",
    "mixed.decode_rate": "decode rate",
}  # fmt: skip
TAIL = 0.95
TIMES_CAPTION = (
    "One row a boot, class, phase and measure; gap typical: a stream's median time per token; gap longest: its longest "
    "silence; by block: the range of the blocks; a tail of few requests is one of the slowest, as said"
)


def place_of(e: Estimate) -> str:
    """The boot of an estimate, or the folder where the boot is not known."""
    return e.qualifiers.get("boot") or e.qualifiers.get("target", "")


def sentence(found: list[Group], effects: list[Estimate], objective: Objective) -> str:
    """The answer: what was seen of each class alone and together, and whether more than these requests show it."""
    if not found:
        return f"What traffic classes cost each other cannot be said: {NO_CLASS}."
    names = list(dict.fromkeys(group.name for group in found))
    seen = "; ".join(text for name in names if (text := _seen(name, found)))
    losses: dict[str, list[str]] = {}
    for name in names:
        losses.setdefault(_loss([e for e in effects if e.qualifiers["class"] == name]), []).append(name)
    said = "; ".join(f"for {' and '.join(of)} {loss}" for loss, of in losses.items())
    rule = "" if objective.declared else " No objective was declared, so no loss is called too large."
    first = (
        f"First tokens (p95) of these requests, where alone and together differ most: {seen}. "
        "As a property of the service: "
        if seen
        else ""
    )
    return f"{first}{said if first else said[:1].upper() + said[1:]}.{rule}"


def _seen(name: str, found: list[Group]) -> str:
    """The p95 of the first token alone and together, where the two differ most: of these requests, no more."""
    most = _most(name, found)
    if most is None:
        return ""
    said = [f"{show_number(point(x, TAIL), 's', digits=2)} ({of_requests(len(x), TAIL)})" for x in most[1:]]
    return f"{name} {said[0]} alone, {said[1]} beside the other class ({most[0]})"


def _most(name: str, found: list[Group]) -> tuple[str, Floats, Floats] | None:
    """The place where the p95 of the first token differs most, with the times alone and together (s)."""
    pairs = []
    for place in dict.fromkeys(g.place for g in found):
        alone, both = split(found, place, name)
        ends = [joined(part, "ttft_s")[0] for part in (alone, both)]
        if all(len(x) for x in ends):
            pairs.append((place, ends[0], ends[1]))
    return max(pairs, key=lambda p: abs(log(max(point(p[2], TAIL), 1e-9) / max(point(p[1], TAIL), 1e-9))), default=None)


def _loss(effects: list[Estimate]) -> str:
    known = [e for e in medians(effects) if e.value is not None]
    if not known:
        why = next((e.reason for e in effects if e.reason), "it was never both alone and together with another")
        return f"no loss can be computed ({str(why).removeprefix('not computable: ')})"
    bounded = [e for e in known if e.low is not None and e.high is not None]
    shown = [e for e in bounded if (e.low or 0) > 0 or (e.high or 0) < 0]
    if shown:
        said = ", ".join(_by_measure(shown) if len(shown) > MOST else map(_with_place, shown))
        return f"{len(shown)} of {len(bounded)} intervals of a median exclude zero: {said}"
    if bounded:
        widest = max(bounded, key=lambda e: abs(e.value or 0))
        largest = f"the largest is {widest.qualifiers['measure']} {show(widest)} ({place_of(widest)})"
        return f"no change is shown, {largest}"
    return f"no change is shown: {known[0].reason}"


def _with_place(e: Estimate) -> str:
    return f"{e.qualifiers['measure']} {show(e)} ({place_of(e)})"


def _by_measure(shown: list[Estimate]) -> Iterator[str]:
    """Of each measure the change, or the smallest and the largest of how many."""
    for measure in dict.fromkeys(e.qualifiers["measure"] for e in shown):
        of = sorted((e for e in shown if e.qualifiers["measure"] == measure), key=lambda e: e.value or 0)
        yield f"{measure} {show(of[0])} to {show(of[-1])} in {len(of)}" if len(of) > 1 else _with_place(of[0])


def medians(effects: list[Estimate]) -> list[Estimate]:
    """The effects at the median, and those on records, that have a value."""
    return [e for e in effects if e.value is not None and e.qualifiers.get("quantile", "p50") == "p50"]


def headline(found: list[Group], effects: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: the tails that it names, and the medians whose interval excludes zero."""
    places = {name: pair[0] for name in dict.fromkeys(g.name for g in found) if (pair := _most(name, found))}
    return [
        e for e in effects
        if (e.low is not None and e.high is not None and (e.low > 0 or e.high < 0) and e in medians([e]))
        or (e.qualifiers["measure"] == "first token" and e.qualifiers.get("quantile") == "p95"
            and place_of(e) == places.get(e.qualifiers["class"]))
    ]  # fmt: skip


def next_step(found: list[Group], effects: list[Estimate]) -> str:
    """What to record next: alternating phases, and how many blocks a tail needs."""
    if not found:
        return "Record a request trace with class and phase (docs/formats/load-generators.md)."
    few = [e.n for e in effects if e.qualifiers.get("quantile") == "p95" and e.n is not None and e.low is None]
    if not few:
        return ""
    return (
        f"Alternate the phases, at least {LEAST_VISITS} visits of each, of a minute or more; "
        f"a tail needs {LEAST_BLOCKS_TAIL} such blocks in all, and the most here is {max(few)}."
    )


def times_table(times: list[Estimate]) -> pl.DataFrame:
    """One row a place, class, phase and measure: p50 and the slow tail, and the range of blocks."""
    rows: dict[tuple[str, ...], dict[str, str | Shown]] = {}
    for e in times:
        q = e.qualifiers
        measure = f"{WHAT[e.id]} {q.get('gap', '')}".strip()
        key = (place_of(e), q["class"], q["phase"], measure, q.get("prompt_tokens", ""))
        row = rows.setdefault(key, dict(zip(("boot", "class", "phase", "measure", "prompt tokens"), key, strict=True)))
        tail = q["quantile"] != "p50"
        of = next((w.removeprefix("requests: ") for w in e.warnings if w.startswith("requests: ")), "")
        row["slow tail" if tail else "p50"] = Shown(e, f"{_text(e)} ({of})" if of else _text(e))
        blocks = next((w.removeprefix("by block: ") for w in e.warnings if w.startswith("by block: ")), "")
        row["tail by block" if tail else "p50 by block"] = blocks
    columns = (
        "boot",
        "class",
        "phase",
        "measure",
        "prompt tokens",
        "p50",
        "p50 by block",
        "slow tail",
        "tail by block",
    )
    made = cells.frame(rows.values(), dict.fromkeys(columns, pl.String))
    return made if any(made["prompt tokens"]) else made.drop("prompt tokens")


def ttft_frame(times: list[Estimate]) -> pl.DataFrame:
    """One row a place, class and phase for the chart: p50 and p95 of the first token in seconds."""
    rows: dict[tuple[str, str], dict[str, str | Shown]] = {}
    for e in times:
        if e.id == "mixed.ttft" and "prompt_tokens" not in e.qualifiers and e.value is not None:
            label = f"{place_of(e)} {e.qualifiers['class']}"
            row = rows.setdefault((label, e.qualifiers["phase"]), {"label": label, "phase": e.qualifiers["phase"]})
            row[e.qualifiers["quantile"]] = Shown(e, e.value, "value")
    floats = dict.fromkeys(("p50", "p95"), pl.Float64)
    return cells.frame(rows.values(), {"label": pl.String, "phase": pl.String, **floats})


def describe_ttft(frame: pl.DataFrame, found: list[Group]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of first tokens."""
    plain, figures = cells.split(frame)
    told = [{q: show_value(of[q].estimate) if q in of else "not known" for q in ("p50", "p95")} for of in figures]
    said = [
        f"{row['label']}, {row['phase']}: p50 {of['p50']}, p95 {of['p95']}"
        for row, of in zip(plain.iter_rows(named=True), told, strict=True)
    ]
    title = "No request with a class says when its first token came"
    if (slowest := plain["p95"].arg_max()) is not None:
        row = plain.row(slowest, named=True)
        title = f"The slowest first tokens: {row['label']} in phase {row['phase']}, p95 {told[slowest]['p95']}"
    alone = [g for g in found if (share := beside(found, g)) is not None and share <= ALONE]
    return {
        "title": title,
        "subtitle": "time to first token (s, logarithmic): bar from p50 (filled) to p95 (open); "
        f"{len(alone)} of {sum(1 for g in found if g.done.height)} groups ran alone; "
        f"a p95 of fewer than {least_n(TAIL)} requests is one of the slowest few",
        "description": "Time to first token by boot, class and phase. " + ("; ".join(said) or "no data"),
    }


def effect_frame(effects: list[Estimate]) -> pl.DataFrame:
    """One row an effect at the median, in seconds: label, group (measure), value, low, high."""
    rows = [
        (f"{place_of(e)} {e.qualifiers['class']}", e.qualifiers["measure"], *cells.ends(e).values())
        for e in effects if e.unit == "s" and e.value is not None and e.qualifiers.get("quantile") == "p50"
    ]  # fmt: skip
    floats = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return cells.frame(rows, {"label": pl.String, "group": pl.String, **floats})


def describe_effects(effects: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of effects."""
    known = [e for e in medians(effects) if e.unit == "s"]
    shown = [e for e in known if e.low is not None and e.high is not None and (e.low > 0 or e.high < 0)]
    said = [f"{place_of(e)} {e.qualifiers['class']}, {e.qualifiers['measure']}: {show(e)}" for e in known]
    title = (
        f"A change is shown in {len(shown)} of {len(known)} medians"
        if known
        else "No class ran both alone and together"
    )
    return {
        "title": title,
        "subtitle": "median with the other class less median alone (s); rule: 95 % interval over blocks of time",
        "description": "What each class lost by the other's presence. " + ("; ".join(said) or "no data"),
    }


def effect_table(effects: list[Estimate]) -> pl.DataFrame:
    """One row an effect: what was compared, the difference, why it has no interval, units and method."""
    rows = [
        (place_of(e), e.qualifiers["class"], e.qualifiers["measure"], e.qualifiers.get("quantile", ""), figure(e),
         e.method.partition("; over all requests ")[2], why_none(e), f"{e.n} {e.n_of}" if e.n is not None else "")
        for e in effects
    ]  # fmt: skip
    columns = (
        "boot",
        "class",
        "measure",
        "quantile",
        "difference",
        "over all requests",
        "no interval because",
        "units",
    )
    return cells.frame(rows, dict.fromkeys(columns, pl.String))


def figure(e: Estimate) -> Shown:
    """The figure for a table that says in a column of its own why there is no interval."""
    return Shown(e, _text(e))


def _text(e: Estimate) -> str:
    if e.value is None and e.low is None and e.high is None:
        return "none"
    if e.value is not None and e.low is None and e.high is None and e.kind == "estimate":
        return show_value(e)
    return show(e)


def why_none(e: Estimate) -> Shown | str:
    """Why a figure has no interval, or is none; empty for what was counted."""
    return cells.reason(e) or "" if e.kind == "estimate" and e.low is None and e.high is None else ""
