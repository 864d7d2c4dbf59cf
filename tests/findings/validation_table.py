"""Writes what counters and traces say of step time, against the step log, into docs/step-time-validation.md.

PYTHONPATH=src python tests/findings/validation_table.py docs/step-time-validation.md
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from analysis.estimates.estimate import Estimate
from analysis.estimates.trace_step_time import held_share_from_traces
from analysis.findings import held, small_steps, step_range, step_time, time_split, wall_states
from analysis.study import Study

BEGIN, END = "<!-- validation: begin (written by make validation) -->", "<!-- validation: end -->"
STUDY = "vllm-cpu-iterations"
RANGE, INTERVAL = "range", "95 % interval"


@dataclass(frozen=True)
class Row:
    """One figure of one boot: what the step log says, and what was estimated without it."""

    boot: str
    figure: str
    source: str
    truth: float
    estimate: Estimate
    span: str

    @property
    def holds(self) -> bool:
        """Whether the range or interval holds what the log says."""
        assert self.estimate.low is not None and self.estimate.high is not None
        return self.estimate.low <= self.truth <= self.estimate.high

    @property
    def error(self) -> float | None:
        """Points by which the estimate is too high."""
        return None if self.estimate.value is None else 100 * (self.estimate.value - self.truth)


def rows(study: Study) -> list[Row]:
    """Every figure that can be estimated without the step log, boot by boot."""
    store = study.connection
    runs = time_split.runs(store)
    logged = _by_boot(step_time.prefill_shares(store, runs), step_time.SHARE)
    counted = _by_boot(step_range.from_counters(store, runs), step_range.FROM_COUNTERS)
    traced = _by_boot(wall_states.step_shares(store, runs), wall_states.FROM_TRACES)
    requests = _by_boot(time_split.prefill_shares(store, runs), time_split.SHARE)
    held_by_log = _by_boot(held.shares(store), held.HELD)
    small = small_steps.shares(store, runs)
    found = []
    for boot, truth in logged.items():
        share = truth.value or 0.0
        step_name, held_name, small_name = (
            "prefill share of step time",
            "share of request time held by prefill",
            (f"steps of at most {small_steps.LIMIT_TOKENS} tokens"),
        )
        found += [
            Row(boot, step_name, "counters alone", share, counted[boot], RANGE),
            Row(boot, step_name, "clients' clocks", share, traced[boot], RANGE),
            Row(boot, held_name, "clients' clocks", held_by_log[boot].value or 0.0, _held(study, boot), INTERVAL),
            Row(boot, held_name, "*request-seconds, taken for it*", held_by_log[boot].value or 0.0, requests[boot],
                INTERVAL),
        ]  # fmt: skip
        of_boot = {(e.id, e.qualifiers["source"]): e for e in small if e.qualifiers["boot"] == boot}
        metric, span = (of_boot[id, "metric"] for id in (small_steps.SMALL, small_steps.SMALL_RANGE))
        exact = of_boot[small_steps.SMALL, "step log"].value or 0.0
        found.append(Row(boot, small_name, "counters alone", exact, _within(metric, span), RANGE))
    return found


def _held(study: Study, boot: str) -> Estimate:
    """The clients' figure of a boot whose step log the findings prefer."""
    [spans] = [spans for (_, of), spans in wall_states.spans_by_place(study.connection) if of == boot]
    placed = spans.filter("is_placed")
    gaps = study.connection.sql(wall_states.GAPS, params={"place": boot}).pl()
    times = (placed["sent_s"], placed["first_s"].fill_null(placed["end_s"]), placed["end_s"])
    return held_share_from_traces(*(c.to_numpy() for c in (*times, gaps["start_s"], gaps["stop_s"])))


def _within(point: Estimate, span: Estimate) -> Estimate:
    return Estimate(point.value, "1", "estimate", point.method, span.low, span.high, reason="a range")


def _by_boot(estimates: list[Estimate], id: str) -> dict[str, Estimate]:
    return {e.qualifiers["boot"]: e for e in estimates if e.id == id and (e.value is not None or e.low is not None)}


def table(found: list[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| boot | figure | step log | from | estimate | error (points) | range or interval | holds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        e = row.estimate
        point = "none" if e.value is None else f"{100 * e.value:.1f} %"
        error = "" if row.error is None else f"{row.error:+.1f}".replace("-", "−")
        ends = f"{100 * (e.low or 0):.1f} … {100 * (e.high or 0):.1f} % ({row.span})"
        lines.append(
            f"| {row.boot} | {row.figure} | {100 * row.truth:.1f} % | {row.source} | {point} | {error} | {ends} | "
            f"{'yes' if row.holds else 'no'} |"
        )
    return "\n".join(lines)


def main(path: Path) -> None:
    """Replace what stands between the markers; without markers the file is left alone."""
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path}: the markers of the table are missing")
    head, rest = text.split(BEGIN, 1)
    made = table(rows(Study(STUDY)))
    path.write_text(f"{head}{BEGIN}\n\n{made}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
