"""What could be gained: a free prefill, a prefix cache that always hits, fewer output tokens; side by side.

Each figure is a factor by which the prefill and decode time of a request could shrink. Only a free prefill of requests
that never overlap has a bound; everywhere else the figure says "not a bound" and why.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np
import polars as pl

from analysis.estimates import cells
from analysis.estimates.amdahl import LOWER_END, SEQUENTIAL, at_least, fewer_tokens, first_order, lever_ceiling
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.rounding import show, show_limit, show_value
from analysis.findings import held as held_up
from analysis.findings.accountings import Accountings
from analysis.findings.lengths import FINDING, Lengths
from analysis.findings.time_split import Run
from analysis.findings.time_tables import few, run_of

LEVER = "time.lever_ceiling"
HALF = 2.0
TRY_BOTH = "Try both levers, with replicates, before one is dropped."
NO_LIMIT = "no useful limit"
NOTICEABLE = 1.005
"""A lower limit below this says nothing: no change at all is a factor of one."""
WORDS = {
    ("prefill", ""): "free prefill",
    ("prefix_cache", ""): "all prompts cached",
    ("output_tokens", "half"): "answers half as long",
    ("output_tokens", "median"): "none over the median",
}
"""The levers, by their qualifiers `lever` and `to`, as a reader calls them."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """What is known of the run of a share: requests at once (None: not known to be one) and prefill on the clock."""

    at_once: float | None
    held: Estimate | None
    prompt_tokens: float | None
    cuts: float | None


def levers(known: Accountings, runs: list[Run], lengths: list[Lengths]) -> list[Estimate]:
    """time.lever_ceiling of every lever and run that has a prefill share of request-seconds, or why there is none."""
    at_once = _by_run(known.concurrency)
    # Clocks of clients that sent a part of the requests only show a part of what held them up.
    complete = {run_of(e) for e in known.by_clients if e.kind == "census"}
    held = _by_run(e for e in known.held if run_of(e) in complete or e.picked == held_up.BY_LOG)
    by_name = {each.name: each for each in lengths}
    of_run = {run.name: run for run in runs}
    found = []
    for share in known.request:
        name = run_of(share)
        least = at_once[name].value if name in at_once else None
        run = of_run.get(share.qualifiers.get("boot") or share.qualifiers.get("target") or "")
        setting = _Setting(
            # A lower limit of one at a time does not show that there were not two.
            1.0 if name in known.sequential() else least if (least or 0) > SEQUENTIAL else None,
            held.get(name),
            _mean_prompt(run),
            median_cut(by_name[run.name].requests) if run is not None and run.name in by_name else None,
        )
        names = {k: v for k, v in share.qualifiers.items() if k in ("boot", "target")}
        for (lever, to), estimate in _each(share, setting).items():
            more = {"lever": lever, **({"to": to} if to else {})}
            found.append(estimate.with_evidence(*share.evidence[:4]).named(LEVER, FINDING, **names, **more))
    return found


def _each(share: Estimate, setting: _Setting) -> dict[tuple[str, str], Estimate]:
    if share.value is None:
        return {key: no_interval(None, "x", "none", share.reason or "there is no prefill share") for key in WORDS}
    longest = inf if setting.prompt_tokens is None else max(setting.prompt_tokens, 1.0)
    no_answers = no_interval(None, "x", "none", "no client recorded the lengths of its answers")
    return {
        ("prefill", ""): _prefill(share, setting, inf),
        ("prefix_cache", ""): no_interval(None, "x", "none", "the pages do not export the prompts' lengths")
        if longest == inf
        else _prefill(share, setting, longest),
        ("output_tokens", "half"): fewer_tokens(share, HALF, setting.at_once),
        ("output_tokens", "median"): no_answers
        if setting.cuts is None
        else fewer_tokens(share, setting.cuts, setting.at_once),
    }  # fmt: skip


def _prefill(share: Estimate, setting: _Setting, factor: float) -> Estimate:
    """A bound where requests never overlap; else from what prefill holds up; else no more than a lower end."""
    if setting.at_once is not None and setting.at_once <= SEQUENTIAL:
        return lever_ceiling(share, setting.at_once, factor=factor)
    return at_least(share, setting.at_once, factor) if setting.held is None else first_order(
        setting.held, setting.at_once, factor
    )  # fmt: skip


def _mean_prompt(run: Run | None) -> float | None:
    """Mean computed prompt tokens of a request: a cache that hits all still computes one token of each prompt."""
    if run is None:
        return None
    for concept in ("request_prefill_computed_tokens", "request_prompt_tokens"):
        tokens, requests = run.total(concept), run.total(concept, "count")
        if tokens and requests:
            return tokens / requests
    return None


def median_cut(requests: pl.DataFrame) -> float | None:
    """Decode steps of all answers over those left when no answer is longer than the median; None without answers."""
    steps = np.maximum(requests["output_tokens"].to_numpy() - 1, 0)
    if not len(steps) or not steps.sum() > 0:
        return None
    kept = np.minimum(steps, np.median(steps)).sum()
    return float(steps.sum() / kept) if kept > 0 else None


def table(found: list[Estimate]) -> pl.DataFrame:
    """One row a run and lever: the factor with its interval or range, whether it is a bound, the method.

    Runs without any interval are left out where another run has one.
    """
    weighed = {run_of(e) for e in found if e.low is not None}
    rows = [
        (run_of(e), _words(e), Shown(e, _text(e)), "a bound" if e.kind == "bound" else cells.reason(e), e.method)
        for e in found
        if run_of(e) in weighed or not weighed
    ]
    schema = dict.fromkeys(("run", "lever", "times as fast", "what it is", "method"), pl.String)
    return cells.frame(rows, schema)


def drawn(found: list[Estimate]) -> pl.DataFrame:
    """One row a run and lever that has an interval or a range: time saved in %, and its ends. Unlimited is 100 %."""
    rows = [
        (run_of(e), _words(e), _saved(e, e.value, "value"), *(_saved(e, x, "end") for x in (e.low, e.high or inf)))
        for e in found
        if e.low is not None
    ]
    floats = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return cells.frame(rows, {"label": pl.String, "group": pl.String, **floats})


def _saved(e: Estimate, factor: float | None, part: cells.Part) -> Shown:
    return Shown(e, None if factor is None else 100 * (1 - 1 / factor), part)


def headline(found: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: half the output tokens and a free prefill, of the runs at both ends."""
    pairs = sorted(_pairs(found), key=lambda pair: pair[1].value or 0)
    ends = pairs if len(pairs) < 2 else [pairs[0], pairs[-1]]
    return [e for pair in ends for e in pair if e.low is not None and _text(e) != NO_LIMIT]


def sentence(found: list[Estimate], works_on: str = "") -> str:
    """The answer: what each side could give, with the words that it is no bound where it is none.

    `works_on` says which share a free prefill works on (lever_shares.py).
    """
    pairs = _pairs(found)
    if not pairs:
        return "Which change would give most cannot be said: no run has an interval of its prefill share."
    halves = [half for _, half in pairs]
    runs = len({run_of(e) for e in found if e.value is not None or e.low is not None})
    over = "" if len(pairs) == runs else f" in {run_of(halves[0])}" if len(pairs) == 1 else f" in {len(pairs)} runs"
    half = f"half the output tokens, requests' own prefill and decode would together be {few(halves)} as fast{over}"
    parts = [f"With {half}"]
    if next_step(found) == TRY_BOTH:
        parts = [f"Neither lever, answers or prefill, is shown to be the larger one: with {half}"]
    free = [prefill for prefill, _ in pairs if _is_known(prefill)]
    if sure := [e for e in free if e.kind == "bound"]:
        parts.append(f"a free prefill would make them at most {few(sure, _text)} as fast where requests never overlap")
    if rough := [e for e in free if e.kind != "bound"]:
        parts.append(f"a free prefill is worth {few(rough, _text)} to first order, not a bound: requests overlap")
    why = "requests overlap, or may, and their waiting for each other's prefill is booked as decode"
    if not free:
        unknown = f"Which change would give most is not known yet: {why}"
        return f"{unknown}, so what a free prefill would give cannot be told. {parts[0]}."
    said = [f"{'; '.join(parts)}.", works_on]
    if others := len(pairs) - len(free):
        said.append(f"What a free prefill would give is not known in {others} of the runs: {why}.")
    return " ".join(filter(None, said))


def _ends(low: float, high: float) -> str:
    """A range of factors in words, its ends outwards; each with its own digits, for one may be many times the other."""
    least = show_limit(low, "x")
    if high == inf and low < NOTICEABLE:
        return NO_LIMIT
    return f"{least} or more" if high == inf else f"{least} to {show_limit(high, 'x', upper=True)}"


def next_step(found: list[Estimate]) -> str:
    """What to do first. Where requests overlap it never says that the prefill side may be dropped."""
    pairs = _pairs(found)
    if not pairs:
        return "Record metric pages before, during and after a load: two or more with finished requests between them."
    if not any(_is_known(prefill) for prefill, _ in pairs):
        return "Log engine steps or record request traces before either side is dropped."
    known = [(prefill, half) for prefill, half in pairs if _is_known(prefill)]
    if all((half.low or 0) > (inf if prefill.high is None else prefill.high) for prefill, half in known):
        if all(prefill.kind == "bound" for prefill, _ in pairs):
            return "Shorten answers first (reasoning mode, length limits): no prefill-side lever can give as much."
        return (
            "Try shorter answers first (reasoning mode, length limits), and keep the prefill side: no bound is known."
        )
    if all((half.high or inf) < (prefill.low or 0) for prefill, half in known):
        return "Work on the prefill side first: prefix reuse, shorter prompts, chunk size."
    return TRY_BOTH


def unless(found: list[Estimate]) -> str:
    """What would change the answer."""
    pairs = _pairs(found)
    if all(prefill.kind == "bound" or prefill.picked == held_up.BY_LOG for prefill, _ in pairs):
        return "the traffic changes: prompts get longer, answers shorter, or requests start to overlap"
    return (
        "the engine's step time says otherwise: where requests overlap, a prefill also holds up other requests' decode"
    )


def describe(found: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of levers."""
    known = [e for e in found if e.low is not None]
    bare = len({run_of(e) for e in found} - {run_of(e) for e in known})
    pairs = [pair for pair in _pairs(found) if _is_known(pair[0])]
    prefill_first = sum((half.high or inf) < (free.low or 0) for free, half in pairs)
    output_first = sum((half.low or 0) > (inf if free.high is None else free.high) for free, half in pairs)
    if not known:
        title = "No lever can be weighed: no prefill share with an interval"
    elif not pairs:
        title = "What a free prefill would save is not known: requests overlap, or may overlap"
    elif prefill_first == len(pairs):
        title = "A free prefill would save more than half the output tokens"
    elif output_first == len(pairs):
        title = "Half the output tokens would save more than a free prefill, as far as it is known"
    else:
        title = "Neither side is shown to be the larger lever"
    return {
        "title": title,
        "subtitle": "prefill and decode time of a request that could be saved (%); point with rule: 95 % interval; "
        "rule alone: first-order range, not a bound" + (f"; {bare} runs without an interval left out" if bare else ""),
        "description": "Levers by run, in times as fast. "
        + ("; ".join(f"{run_of(e)}, {_words(e)}: {_text(e)}" for e in known) or "None can be weighed."),
    }


def _is_known(prefill: Estimate) -> bool:
    """Whether what a free prefill gives has two ends: request-seconds of overlapping requests give the lower alone."""
    return prefill.low is not None and prefill.method != LOWER_END


def _pairs(found: list[Estimate]) -> list[tuple[Estimate, Estimate]]:
    """Free prefill and half the output tokens of each run in which the latter has an interval."""
    free = {run_of(e): e for e in found if e.qualifiers["lever"] == "prefill"}
    half = [e for e in found if e.qualifiers.get("to") == "half" and e.low is not None]
    return [(free[run_of(e)], e) for e in half]


def _words(e: Estimate) -> str:
    return WORDS[e.qualifiers["lever"], e.qualifiers.get("to", "")]


def _text(e: Estimate) -> str:
    if e.value is None and e.low is not None:
        return _ends(e.low, inf if e.high is None else e.high)
    return show(e) if e.kind == "bound" or e.low is not None else show_value(e)


def _by_run(estimates: Iterable[Estimate]) -> dict[str, Estimate]:
    return {run_of(e): e for e in estimates if e.value is not None}
