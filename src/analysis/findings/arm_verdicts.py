"""The ratios of arms with all that a reader must know of them, and the same arms cold against warm."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from analysis.estimates.estimate import Estimate
from analysis.findings import arm_conditions, arm_outputs, arms, start_ups
from analysis.findings.arms import Arms, Pair

STATES = ("cold", "warm")


def verdicts(of: Arms, pairs: Sequence[Pair] | None = None) -> list[Estimate]:
    """arms.ratio of each pair and measure; its warnings say what was not alike and what the faster arm paid with."""
    found = []
    for e in arms.ratios(of, pairs):
        pair, measure = (e.qualifiers["a"], e.qualifiers["b"]), e.qualifiers["measure"]
        unlike = arm_conditions.mismatches(of, pair, measure)
        said = [f"not alike in the two arms: {', '.join(unlike)}"] if unlike else []
        said += arm_outputs.caveats(of, pair, measure, e.qualifiers.get("class"), e.value)
        found.append(e.with_warnings(*said))
    return found


def price(of: Arms, e: Estimate) -> list[str]:
    """What the faster arm of this ratio paid with: shorter answers, fewer valid ones."""
    pair = (e.qualifiers["a"], e.qualifiers["b"])
    return arm_outputs.caveats(of, pair, e.qualifiers["measure"], e.qualifiers.get("class"), e.value)


def cold_and_warm(of: Arms) -> list[Estimate]:
    """arms.ratio of each arm that has both: warm boots over cold ones, as study.toml or their compile cache says."""
    state = pl.coalesce("cache_state", "compile_state")
    known = of.boots.filter(state.is_in(STATES)).with_columns(arm=pl.format("{}, {}", "arm", state))
    both = [(f"{arm}, cold", f"{arm}, warm") for arm in of.names]
    there = set(known["arm"])
    pairs = [pair for pair in both if there.issuperset(pair)]
    plan = replace(of.plan, arms=tuple(arm for pair in pairs for arm in pair))
    return arms.ratios(replace(of, boots=known, plan=plan), pairs) if pairs else []


def states(of: Arms) -> pl.DataFrame:
    """One row a boot: arm, its compile cache, its prefix cache before the load, seconds until it was ready, twice."""
    conditions = of.conditions.filter(pl.col("class").is_null())
    columns = {"compile cache": "compile cache", "prefix cache before the load": "prefix cache"}
    table = of.boots.filter(pl.col("arm").is_in(of.names)).select(
        "arm", "boot", "outcome", "ready_s", "process_ready_s", "cache_state"
    )
    for condition, name in columns.items():
        part = conditions.filter(pl.col("condition") == condition).select("boot", pl.col("value").alias(name))
        table = table.join(part.unique("boot"), on="boot", how="left", maintain_order="left")
    return table.select(
        "arm", "boot", "outcome", "compile cache", "prefix cache", pl.col("cache_state").alias("declared"),
        pl.col("ready_s").alias(f"ready, {start_ups.LOG} (s)"),
        pl.col("process_ready_s").alias(f"ready, {start_ups.PROCESS} (s)"),
    ).sort("arm", maintain_order=True)  # fmt: skip
