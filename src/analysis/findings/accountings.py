"""The three accountings of prefill side by side, what a faster prefill could gain, and the sentence that says so.

Request-seconds, step time and the clock are three questions. A run that has one of them answers that one only.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from analysis.estimates.amdahl import SEQUENTIAL, lever_ceiling
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.rounding import show, show_number
from analysis.findings import step_time, time_split, time_tables, wall_states
from analysis.findings.time_split import FINDING
from analysis.findings.time_tables import run_of

LEVER = "time.lever_ceiling"
NAMES = {time_split.SHARE: "request-seconds", step_time.SHARE: "step time", wall_states.SHARE: "wall clock"}
DECODE_FIRST = "Look at decode first: how many tokens are generated, and how many requests share a step."
PREFILL_FIRST = (
    "Look at prefill first: how long prompts are, what the prefix cache finds, how many tokens a step may take."
)
LOG_STEPS = "Log the engine's steps before a lever on the other phase is dropped."
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

    def rows(self) -> list[Estimate]:
        """Every share of prefill, of whatever accounting."""
        return [e for e in (*self.request, *self.step, *self.wall) if e.id in NAMES]

    def headline(self) -> list[Estimate]:
        """The figures that the sentence rests on."""
        steps = [e for e in self.step if e.id == step_time.SHARE and e.value is not None]
        return [*time_tables.headline(self.request), *steps]

    def sentence(self) -> str:
        """The answer: both accountings where a run has both, never request-seconds of overlapping requests alone."""
        parts = [time_tables.sentence(self.request)]
        steps = _by_run(e for e in self.step if e.id == step_time.SHARE)
        both = [(e, steps[run_of(e)]) for e in self.request if e.value is not None and run_of(e) in steps]
        apart = sorted(both, key=lambda pair: -abs((pair[0].value or 0) - (pair[1].value or 0)))
        parts += [
            f"In {run_of(a)} prefill is {_point(a)} of request-seconds and {_point(b)} of the engine's step time."
            for a, b in apart[:SAID]
        ]
        if not both:
            parts += [
                f"In {run} prefill is {_point(e)} of the engine's step time." for run, e in list(steps.items())[:SAID]
            ]
        if overlap := self._overlap(set(steps)):
            parts.append(overlap)
        return " ".join(parts)

    def next_step(self) -> str:
        """What to do about the answer: where to look first, or what to record."""
        sides = time_tables.sides_of(self.request)
        if not sides:
            return "Fetch metric pages before, during and after a load: ten or more with traffic give an interval."
        first = {"decode": DECODE_FIRST, "prefill": PREFILL_FIRST}.get(next(iter(sides)) if len(sides) == 1 else "")
        said = first or "Look at the runs one by one before choosing a lever: they do not agree on a phase."
        known = {run_of(e) for e in self.step if e.id == step_time.SHARE and e.value is not None}
        return f"{said} {LOG_STEPS}" if self._overlap(known) else said

    def unless(self) -> str:
        """What would change the answer: how far the nearest interval ends from half."""
        sure = time_tables.headline(self.request)
        if not sure:
            return ""
        ends = [end for e in sure for end in (e.low, e.high) if end is not None]
        nearest = show_number(min(ends, key=lambda end: abs(end - 0.5)), "1", digits=2)
        return f"the traffic is of another mix: the interval that comes nearest to half ends at {nearest}."

    def _overlap(self, known: set[str]) -> str:
        """What must be said where requests overlap (or may) and no step time tells what the engine did."""
        runs = {run_of(e) for e in self.request if e.value is not None and run_of(e) not in known}
        loud = runs - self._sequential()
        if not loud:
            return ""
        least = [e for e in self.concurrency if run_of(e) in loud and (e.value or 0) > SEQUENTIAL]
        most = max(least, key=lambda e: e.value or 0, default=None)
        seen = "may have overlapped" if most is None else f"overlapped (on average {show(most)} at once)"
        return (
            f"Requests {seen}, and a decode that waits for another request's prefill counts as decode: this is not the "
            "share of the engine's time, and it does not say that a faster prefill would gain little."
        )

    def _sequential(self) -> set[str]:
        """Runs that are known to have served one request at a time: a lower limit on concurrency cannot show it."""
        return {run_of(e) for e in self.by_clients if e.kind == "census" and (e.value or 0) <= SEQUENTIAL}

    def levers(self) -> list[Estimate]:
        """time.lever_ceiling of prefill, by run: a bound where requests do not overlap, else said not to be one."""
        at_once, sequential = _by_run(self.concurrency), self._sequential()
        wall = _by_run(e for e in self.wall if e.id == wall_states.SHARE)
        found = []
        for share in self.request:
            run = run_of(share)
            known = at_once[run].value if run in at_once else None
            # A lower limit of one at a time does not show that there were not two.
            known = 1.0 if run in sequential else known if (known or 0) > SEQUENTIAL else None
            if share.value is None:
                ceiling = no_interval(None, "x", "none", share.reason or "there is no prefill share")
            else:
                ceiling = lever_ceiling(share, known, wall[run].value if run in wall else None)
            names = {k: v for k, v in share.qualifiers.items() if k in ("boot", "target")}
            found.append(ceiling.with_evidence(*share.evidence[:4]).named(LEVER, FINDING, **names, lever="prefill"))
        return found


def table(rows: list[Estimate]) -> pl.DataFrame:
    """One row a run and accounting: prefill share and interval in %, and why there is none."""
    return pl.DataFrame(
        [
            (run_of(e), NAMES[e.id], *(None if x is None else 100 * x for x in (e.value, e.low, e.high)), e.reason)
            for e in rows
        ],
        schema={"label": pl.String, "group": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
                "reason": pl.String},
        orient="row",
    )  # fmt: skip


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


def lever_table(levers: list[Estimate]) -> pl.DataFrame:
    """One row a run: how much faster requests could get with a free prefill, and whether that is a bound."""
    return pl.DataFrame(
        [(run_of(e), _ceiling(e), "a bound" if e.kind == "bound" else e.reason, e.method) for e in levers],
        schema={"run": pl.String, "at most": pl.String, "what it is": pl.String, "method": pl.String},
        orient="row",
    )


def _ceiling(e: Estimate) -> str:
    return show(e) if e.kind == "bound" or e.low is not None else show_number(e.value, "x")


def _point(e: Estimate) -> str:
    return show_number(e.value, e.unit, digits=2)


def _by_run(estimates: Iterable[Estimate]) -> dict[str, Estimate]:
    return {run_of(e): e for e in estimates if e.value is not None}
