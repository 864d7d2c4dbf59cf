"""The three accountings of prefill side by side, and the sentence that says what they say.

Request-seconds, step time and the clock are three questions. A run that has one of them answers that one only.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

import polars as pl

from analysis.estimates import cells
from analysis.estimates.amdahl import SEQUENTIAL
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import round_interval, show, show_value
from analysis.findings import step_time, time_split, time_tables, wall_states
from analysis.findings.time_split import OWN_KIND
from analysis.findings.time_tables import run_of

NAMES = {time_split.SHARE: "request-seconds", step_time.SHARE: "step time", wall_states.SHARE: "wall clock"}
DECODE_FIRST = (
    "Look at decode first where answers are long: how many tokens are generated, and how many requests share a step."
)
PREFILL_FIRST = (
    "Look at prefill first: how long prompts are, what the prefix cache finds, how many tokens a step may take."
)
LOG_STEPS = "Log the engine's steps (vLLM: --enable-logging-iteration-details)"
KEEP_BOTH = ", and keep both levers until then; what each could give is under “What to change first”."
MIX = "That is the share of the mix that was sent: requests with long prompts and short answers differ from it."
SAID = 3
"""Most runs that the sentence names one by one."""


@dataclass(frozen=True, slots=True)
class Accountings:
    """The prefill shares of a study, by accounting, and how many requests there were at once."""

    request: list[Estimate]
    step: list[Estimate]
    wall: list[Estimate]
    concurrency: list[Estimate]
    by_clients: list[Estimate] = field(default_factory=list)
    """Requests at once as clients saw it: alone it can show that there was never more than one."""
    held: list[Estimate] = field(default_factory=list)
    """Shares of request-seconds that some prefill holds, own and others': what a free prefill would spare."""
    classes: list[Estimate] = field(default_factory=list)
    """Share up to the first token by class of requests, as clients' clocks show it."""

    def rows(self) -> list[Estimate]:
        """Every share of prefill, of whatever accounting."""
        return [e for e in (*self.request, *self.step, *self.wall) if e.id in NAMES]

    def headline(self) -> list[Estimate]:
        """The figures that the sentence rests on."""
        steps = [e for e in self.step if e.id == step_time.SHARE and e.value is not None]
        return [*time_tables.headline(self.request), *steps, *(e for ends in self._by_class().values() for e in ends)]

    def sentence(self) -> str:
        """The answer: both accountings where a run has both, never request-seconds of overlapping requests alone."""
        pooled = time_tables.sentence(self.request)
        if by_class := self._by_class():
            said = " and ".join(f"{' to '.join(map(show, ends))} for {kind}" for kind, ends in by_class.items())
            pooled = f"{pooled.removesuffix('.')}; by clients' clocks, queue included, it is {said} requests."
        steps = _by_run(e for e in self.step if e.id == step_time.SHARE)
        both = [(e, steps[run_of(e)]) for e in self.request if e.value is not None and run_of(e) in steps]
        apart = sorted(both, key=lambda pair: -abs((pair[0].value or 0) - (pair[1].value or 0)))
        parts = [
            f"In {run_of(a)} prefill is {show_value(a)} of request-seconds and {show_value(b)} of the engine's step "
            "time."
            for a, b in apart[:SAID]
        ]
        if len(apart) > SAID:
            parts.append(f"{len(apart) - SAID} more runs have both; in none are they further apart.")
        parts.append(pooled)
        if not both:
            parts += [
                f"In {run} prefill is {show_value(e)} of the engine's step time."
                for run, e in list(steps.items())[:SAID]
            ]
        if overlap := self._overlap(set(steps)):
            parts.append(overlap)
        if time_tables.headline(self.request) and not by_class:
            parts.append(MIX)
        if any(w.startswith(OWN_KIND) for e in self.request if e.value is not None for w in e.warnings):
            parts.append("These seconds are this engine's own kind, comparable within it only.")
        return " ".join(parts)

    def _by_class(self) -> dict[str, list[Estimate]]:
        """The share of each class with an interval, lowest and highest over the runs; empty for a single class."""
        kinds: dict[str, list[Estimate]] = {}
        for e in sorted(self.classes, key=lambda e: e.value or 0) if time_tables.headline(self.request) else ():
            if e.low is not None:
                kinds.setdefault(e.qualifiers["class"], []).append(e)
        ends = {kind: [of[0], *of[1:][-1:]] for kind, of in sorted(kinds.items())}
        return ends if len(ends) > 1 else {}

    def next_step(self) -> str:
        """What to do about the answer. Request-seconds of overlapping requests never say which side may be dropped."""
        known = [e for e in self.request if e.value is not None]
        if not known:
            return "Fetch the metric page before, during and after a load, so that requests finish between two pages."
        steps = [e for e in self.step if e.id == step_time.SHARE and e.value is not None]
        sides = time_tables.sides_of(steps or self.request)
        if not sides:
            return "Fetch metric pages before, during and after a load: ten or more with traffic give an interval."
        # What a prefill holds up is booked as decode: it can only make more of a share that is large already.
        if sides != {"prefill"} and self._overlap({run_of(e) for e in steps}):
            traced = {run_of(e) for e in self.by_clients if e.value is not None}
            are_traced = {run_of(e) for e in known} <= traced
            return f"{LOG_STEPS}{'' if are_traced else ' or record request traces'}{KEEP_BOTH}"
        first = {"decode": DECODE_FIRST, "prefill": PREFILL_FIRST}.get(next(iter(sides)) if len(sides) == 1 else "")
        if sides == {""}:
            return _open(
                len(time_tables.headline(steps or self.request)), "the steps' time" if steps else "request-seconds"
            )
        said = first or "Look at the runs one by one before choosing a lever: they do not agree on a phase."
        return f"{said} What each lever could give is under “What to change first”."

    def unless(self) -> str:
        """What would change the answer: another mix of traffic, and how far the nearest interval ends from half."""
        sure = time_tables.headline(self.request)
        if not sure:
            return ""
        nearest = min((end for e in sure for end in _shown_ends(e)), key=lambda end: abs(end - 50))
        holds = "" in time_tables.sides_of(sure)
        how_far = "an interval holds half" if holds else f"the interval that comes nearest to half ends at {nearest} %"
        return f"the traffic mix changes: prompts get longer, answers shorter, or more requests run at once ({how_far})"

    def _overlap(self, known: set[str]) -> str:
        """What must be said where requests overlap (or may) and no step time tells what the engine did."""
        runs = {run_of(e) for e in self.request if e.value is not None and run_of(e) not in known}
        loud = runs - self.sequential()
        if not loud:
            return ""
        least = [e for e in self.concurrency if run_of(e) in loud and (e.value or 0) > SEQUENTIAL]
        shown = list(dict.fromkeys(show(e) for e in sorted(least, key=lambda e: e.value or 0)))
        ends = " to ".join([*shown[:1], *(end.removeprefix("at least ") for end in shown[1:][-1:])])
        part = "" if len(least) == len(loud) or not least else f", {len(least)} of {len(loud)} runs"
        seen = f"overlapped (on average {ends} at once{part})" if least else "may have overlapped"
        return (
            f"Requests {seen}, and a decode that waits for another request's prefill counts as decode: this is not the "
            "share of the engine's time, and it does not say that a faster prefill would gain little."
        )

    def sequential(self) -> set[str]:
        """Runs that are known to have served one request at a time: a lower limit on concurrency cannot show it."""
        return {run_of(e) for e in self.by_clients if e.kind == "census" and (e.value or 0) <= SEQUENTIAL}


def table(rows: list[Estimate]) -> pl.DataFrame:
    """One row a run and accounting: prefill share and interval in %, and why there is none."""
    texts, floats = ("label", "group"), ("value", "low", "high")
    return cells.frame(
        [(run_of(e), NAMES[e.id], *cells.ends(e, 100).values(), cells.reason(e)) for e in rows],
        dict.fromkeys(texts, pl.String) | dict.fromkeys(floats, pl.Float64) | {"reason": pl.String},
    )


def describe(rows: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of accountings."""
    known = [e for e in rows if e.value is not None]
    names = sorted({NAMES[e.id] for e in known}, key=list(NAMES.values()).index)
    missing = [name for name in NAMES.values() if name not in names]
    title = f"Prefill in {', in '.join(names)}" if names else "No accounting of prefill can be made"
    return {
        "title": title + (": different questions, different answers" if len(names) > 1 else ""),
        "subtitle": "share of prefill (%) by run and accounting; rule: 95 % interval; open point: no interval"
        + (f"; nothing recorded for {' and '.join(missing)}" if missing else ""),
        "description": "Prefill share by run and accounting. "
        + ("; ".join(f"{run_of(e)}, {NAMES[e.id]}: {show(e)}" for e in known) or "None is computable."),
    }


def _open(runs: int, of: str) -> str:
    """What to do where no interval says which phase takes most."""
    which = {1: "The run does not show a phase", 2: "In neither run is a phase shown"}
    said = which.get(runs, f"In none of {runs} runs is a phase shown")
    return f"{said} to take most of {of}; keep both levers. What each could give is under “What to change first”."


def _shown_ends(e: Estimate) -> list[Decimal]:
    """The ends of an interval of a share in %, as the sentence shows them."""
    low, high = e.low or 0.0, 1.0 if e.high is None else e.high
    _, *ends = round_interval(100 * ((low + high) / 2 if e.value is None else e.value), 100 * low, 100 * high)
    return [end for end in ends if end is not None]


def _by_run(estimates: Iterable[Estimate]) -> dict[str, Estimate]:
    return {run_of(e): e for e in estimates if e.value is not None}
