"""Rates that are not rates: which of the computed rates a figure from study.toml really is, and how far off it is.

A rate is often quoted under a name that it does not deserve. The figure is held against the mean prefill rate (like for
like) and against the peak interval, and the direction is said: prompt tokens over the clock may lie below or above.
"""

import json
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.estimates.rounding import show, show_number, show_value
from analysis.findings.lengths import FINDING, SLOPE
from analysis.findings.prefill_rates import LOAD, MEAN, MEDIAN, PEAK
from analysis.findings.time_tables import run_of
from analysis.redact import cut

RATIO = "rate.quoted_over"
UNITS = ("tokens/s", "tok/s")
WORDS = {
    LOAD: "prompt tokens over the wall clock (a load, not a rate)",
    MEAN: "the mean prefill rate",
    MEDIAN: "the prefill rate of the median scrape interval",
    PEAK: "the prefill rate of the peak scrape interval",
    SLOPE: "the slope of prefill time on prompt tokens",
}
LONGEST_NAME = 60
NEXT = "Quote the mean prefill rate where a prefill rate is meant, and call the load a load."
UNLESS = "the figure was measured on another run than these"
AGAINST = {MEAN: "mean", PEAK: "peak"}
_KEY = re.compile(r"quoted\[(\d+)\]\.(text|value|unit|called)$")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A figure that study.toml quotes: what it was called, its value in tokens/s, and where it stands."""

    name: str
    value: float
    evidence: Evidence


def figures(connection: duckdb.DuckDBPyConnection) -> list[Quoted]:
    """The quoted figures that can be held against a rate; what cannot is among the lines not understood."""
    rows = connection.sql("select file, line, key, value from study_facts where key like 'quoted[%' order by all")
    found: dict[tuple[str, int], dict[str, object]] = {}
    lines: dict[tuple[str, int], int | None] = {}
    for file, line, key, value in rows.fetchall():
        if match := _KEY.match(key):
            place = (file, int(match[1]))
            found.setdefault(place, {})[match[2]] = json.loads(value)
            lines[place] = min((n for n in (lines.get(place), line) if n is not None), default=None)
    each: list[Quoted] = []
    for (file, index), entry in sorted(found.items()):
        value = entry.get("value")
        usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if usable and entry.get("unit") in UNITS:
            name = cut(" ".join(str(entry.get("called") or f"figure {index + 1}").split()), LONGEST_NAME)
            if name in {q.name for q in each}:
                name = f"{name} (figure {index + 1})"
            quote = entry.get("text")
            evidence = Evidence(file, line=lines[file, index], quote=quote if isinstance(quote, str) else None)
            each.append(Quoted(name, float(value), evidence))  # type: ignore[arg-type]
    return each


def is_a(quoted: Quoted, rates: list[Estimate]) -> list[Estimate]:
    """The computed rates that the figure can be: equal to its rounding; if none is, those whose interval holds it."""
    known = [e for e in rates if e.value is not None]
    half = rounding(quoted.value)
    equal = [e for e in known if abs((e.value or 0) - quoted.value) <= half]
    return equal or [
        e for e in known if e.low is not None and e.high is not None and e.low - half <= quoted.value <= e.high + half
    ]


def rounding(value: float) -> float:
    """Half a unit of the last digit that is not zero: 5 for 1,860, 500 for 11,000, 0.05 for 12.5."""
    digits = Decimal(repr(value)).normalize()
    exponent = digits.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(1).scaleb(exponent) / 2)


def ratios(quoted: list[Quoted], rates: list[Estimate]) -> list[Estimate]:
    """rate.quoted_over: each figure over the mean and the peak prefill rate of each run, as a factor."""
    found = []
    for figure in quoted:
        for rate in rates:
            if rate.id in AGAINST:
                names = {k: v for k, v in rate.qualifiers.items() if k in ("boot", "target")}
                over = _over(figure, rate).with_evidence(figure.evidence, *rate.evidence[:4])
                found.append(over.named(RATIO, FINDING, **names, called=figure.name, against=AGAINST[rate.id]))
    return found


def _over(figure: Quoted, rate: Estimate) -> Estimate:
    if not rate.value:
        return not_computable("x", (rate.reason or "there is no such rate").removeprefix("not computable: "))
    value, method = figure.value / rate.value, "quoted figure over the computed rate"
    if rate.low and rate.high:
        return Estimate(
            value, "x", "estimate", method, figure.value / rate.high, figure.value / rate.low, rate.confidence,
            rate.n, rate.n_of, rate.assumption,
        )  # fmt: skip
    if rate.kind == "census":
        return Estimate(
            value, "x", "census", method, n=rate.n, n_of=rate.n_of, reason="census: of the highest interval"
        )
    return no_interval(value, "x", method, rate.reason or "the rate has none", n=rate.n, n_of=rate.n_of)


def table(quoted: list[Quoted], rates: list[Estimate], over: list[Estimate]) -> pl.DataFrame:
    """One row a quoted figure and run: what it really is, and how far off the mean and the peak rate it is."""
    rows = []
    for figure in quoted:
        for run in dict.fromkeys(run_of(e) for e in rates if e.value is not None) or ("no run",):
            of_run = [e for e in rates if run_of(e) == run]
            off = {e.qualifiers["against"]: e for e in over
                   if run_of(e) == run and e.qualifiers["called"] == figure.name}  # fmt: skip
            rows.append(
                (
                    figure.name,
                    _as_quoted(figure),
                    run,
                    said(figure, of_run),
                    *(_against(off.get(k), k) for k in AGAINST.values()),
                )
            )
    names = ("called", "quoted", "run", "what it is", "against the mean prefill rate", "against the peak")
    return cells.frame(rows, dict.fromkeys(names, pl.String))


def said(figure: Quoted, of_run: list[Estimate]) -> str:
    """Which computed rate of a run the figure is, in words."""
    if not any(e.value is not None for e in of_run):
        return "cannot be told: no rate of this run is computable"
    found = is_a(figure, of_run)
    missing = [WORDS[e.id] for e in of_run if e.value is None and e.id != SLOPE]
    unseen = f" (not computable: {'; '.join(dict.fromkeys(missing))})" if missing else ""
    if not found:
        return f"none of the computed rates{unseen}"
    words = " or ".join(dict.fromkeys(f"{WORDS[e.id]}, {show(e)}" for e in found))
    return f"{words}{unseen}"


def _as_quoted(figure: Quoted) -> str:
    digits = len(Decimal(repr(figure.value)).normalize().as_tuple().digits)
    return show_number(figure.value, "tokens/s", digits=digits)


def _against(over: Estimate | None, against: str) -> str | Shown:
    return _off(over, against) if over is None else Shown(over, _off(over, against))


def _off(over: Estimate | None, against: str) -> str:
    if over is None or over.value is None:
        return "not known" if over is None else (over.reason or "not known")
    ends = [over.low if over.low is not None else over.value, over.high if over.high is not None else over.value]
    rate = "the mean rate" if against == "mean" else "the peak"
    if ends[0] <= 1 <= ends[1]:
        return f"{show(over)} of it: not shown to differ"
    side = "above" if over.value > 1 else "below"
    factor = over if over.value > 1 else _inverse(over)
    return f"{side} {rate}, by a factor of {show_value(factor).removesuffix('x')} ({show(over)} of it)"


def _inverse(e: Estimate) -> Estimate:
    value, low, high = (None if end is None else 1 / end if end else inf for end in (e.value, e.high, e.low))
    return replace(e, value=value, low=low, high=high)


def sentence(quoted: list[Quoted], rates: list[Estimate], over: list[Estimate]) -> str:
    """What is to be said of quoted figures that are a load under another name; empty where there is none."""
    loads = [
        (figure, run)
        for figure in quoted
        for run in dict.fromkeys(run_of(e) for e in rates)
        if [e.id for e in is_a(figure, [e for e in rates if run_of(e) == run])] == [LOAD]
    ]
    parts = []
    for figure, run in loads[:2]:
        off = [e for e in over if run_of(e) == run and e.qualifiers["called"] == figure.name and e.value is not None]
        against = "; ".join(_off(e, e.qualifiers["against"]) for e in off) or "no prefill rate is computable beside it"
        parts.append(
            f"What is quoted as “{figure.name}” ({_as_quoted(figure)}) is {run}'s prompt "
            f"tokens over the wall clock, a load and not a rate: {against}."
        )
    return " ".join(parts)
