"""What the charts of "arms compared" show, and their text alternatives."""

from typing import Any

import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.findings import start_ups
from analysis.findings.arm_tables import comparable, margin, measure_text, percent, verdict_text
from analysis.findings.arms import Arms

SHORT = {
    "output_tokens_per_s": "throughput", "completed_per_hour": "done/h", "valid_per_hour": "valid/h",
    "ttft_p50": "TTFT p50", "ttft_p95": "TTFT p95", "inter_token_p99": "ITL p99", "prefill_share": "prefill share",
    "pool": "token pool", "available": "KV memory", "engine_memory": "engine mem.", "peak_memory": "peak memory",
    "start_up": "start-up (log)", "process_start_up": "start-up (proc.)",
}  # fmt: skip
"""What fits beside a narrow chart, in the order of arm_measures.MEASURES."""
FARTHEST = 16.0
"""Ratios beyond it or its inverse are not drawn, intervals are cut: one far ratio would press the rest together."""
MOST_ROWS = 40
"""Boots that a timeline shows one by one; of more, the medians of each arm."""


def forest_table(found: list[Estimate]) -> pl.DataFrame:
    """One row a ratio, for the chart and its numbers."""
    several = len({e.qualifiers["a"] for e in found}) > 1
    rows = [
        {
            "measure": SHORT[e.qualifiers["measure"]], "class": e.qualifiers.get("class"),
            "arm": f"{e.qualifiers['b']} / {e.qualifiers['a']}" if several else e.qualifiers["b"],
            **cells.ends(e), "verdict": e.verdict,
        }
        for e in comparable(found) if e.value is not None
    ]  # fmt: skip
    texts, numbers = ("measure", "class", "arm"), ("value", "low", "high")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64) | {"verdict": pl.String}
    frame = cells.frame(rows, schema)
    place = {name: i for i, name in enumerate(SHORT.values())}
    order = pl.col("measure").replace_strict(place, return_dtype=pl.Int64)
    return frame.sort(order, "class", maintain_order=True)


def describe_forest(of: Arms, found: list[Estimate]) -> dict[str, Any]:
    """Margin, end of the axis, title, subtitle and text alternative of the chart of ratios."""
    compared = comparable(found)
    drawn = [e for e in compared if e.value is not None]
    decided = [e for e in compared if e.verdict in ("different", "equivalent")]
    open_points = sum(e.low is None for e in drawn)
    far = sum(not 1 / FARTHEST <= (e.value or 1) <= FARTHEST for e in drawn)
    bases = list(dict.fromkeys(e.qualifiers["a"] for e in found))
    base = f"ratio over arm {bases[0]}" if len(bases) == 1 else "ratio of the arms named"
    said = [
        f"{measure_text(e)}, {e.qualifiers['b']} over {e.qualifiers['a']}: {show(e)}, {verdict_text(e, margin(of))}"
        for e in drawn
    ]
    return {
        "margin": margin(of),
        "farthest": FARTHEST,
        "title": f"{len(decided)} of {len(compared)} comparisons are decided"
        if drawn
        else "There is no ratio to show: no two arms have a measure in common",
        "subtitle": f"{base}, 95 % intervals; shaded: the same within {percent(margin(of))} "
        + ("(by default)" if of.plan.margin is None else "(declared)")
        + f"; open: no interval ({open_points}); beyond the axis, only in the table: {far}"
        + ("; pools of two settings do not compare and are only in the table" if len(compared) < len(found) else ""),
        "description": "Ratios of arms. " + ("; ".join(said) or "no data"),
    }


def startup_table(of: Arms) -> pl.DataFrame:
    """One row a boot and phase of its start-up, by arm; for many boots the medians of each arm instead."""
    placed = of.phases.join(of.boots.select("boot", "arm"), on="boot").filter(pl.col("arm").is_in(of.names))
    served = of.boots.filter(pl.col("ready_s").is_not_null())["boot"]
    placed = placed.filter(pl.col("boot").is_in(served.implode()))
    if placed["boot"].n_unique() > MOST_ROWS:
        ends = placed.group_by("arm", "phase", "stage").agg(pl.col("start_s", "end_s").median())
        return ends.sort("arm", "stage").select(
            pl.col("arm").alias("label"), "arm", "phase", "stage", "start_s", "end_s"
        )
    order = {arm: i for i, arm in enumerate(of.names)}
    place = pl.col("arm").replace_strict(order, default=0, return_dtype=pl.Int64)
    return placed.sort(place, "boot", "stage").select(
        pl.format("{} · {}", "arm", "boot").alias("label"),
        "arm", "phase", "stage", "start_s", "end_s",
    )  # fmt: skip


def describe_startup(phases: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the timeline of start-ups."""
    spans = phases.with_columns(seconds=pl.col("end_s") - pl.col("start_s"))
    totals = spans.group_by("label", maintain_order=True).agg(pl.col("end_s").max())
    by_phase = spans.group_by("phase", "stage").agg(pl.col("seconds").median()).sort("stage")
    longest = by_phase.sort("seconds", "stage", descending=True)
    said = [f"{label}: {show_number(end, 's')}" for label, end in totals.iter_rows()]
    each = [f"{phase} {show_number(s, 's')}" for phase, _, s in by_phase.iter_rows()]
    return {
        "title": _longest(longest["phase"][0], longest["seconds"][0]) if said else "No log shows a whole start-up",
        "subtitle": f"{totals.height} start-ups by arm; times as the logs print them, from their first line",
        "description": "Start-up. "
        + ("; ".join(said) or "no data")
        + (f". Medians of the phases: {', '.join(each)}" if each else ""),
    }


def caption_startup(of: Arms) -> str:
    """What a phase is, and how far the log's first line is from the start of the process."""
    apart = start_ups.apart(of.boots.filter(pl.col("arm").is_in(of.names)))
    said = "Phases end at the last log line that shows them done; one that is not shown is part of the next."
    return f"{said} {apart[:1].upper()}{apart[1:]}." if apart else said


def _longest(phase: str, seconds: float) -> str:
    return f"Of a start-up, {phase} takes longest (median {show_number(seconds, 's')})"
