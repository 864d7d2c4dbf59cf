"""One function, one chart: a tidy frame in, an Altair chart out. Charts read nothing and write nothing."""

from analysis.charts.accountings_by_run import accountings_by_run
from analysis.charts.block_by_prompt import block_by_prompt
from analysis.charts.effect_by_class import effect_by_class
from analysis.charts.files_read import files_read
from analysis.charts.forest import forest
from analysis.charts.memory_by_boot import memory_by_boot
from analysis.charts.memory_curve import memory_curve
from analysis.charts.memory_parts import memory_parts
from analysis.charts.outcome_count import outcome_count
from analysis.charts.pool_by_arm import pool_by_arm
from analysis.charts.rate_over_time import rate_over_time
from analysis.charts.refusal_curve import refusal_curve
from analysis.charts.share_by_boot import share_by_boot
from analysis.charts.share_over_time import share_over_time
from analysis.charts.shares_by_replica import shares_by_replica
from analysis.charts.stall_ticks import stall_ticks
from analysis.charts.startup_timeline import startup_timeline
from analysis.charts.step_strip import step_strip
from analysis.charts.times_by_phase import times_by_phase
from analysis.charts.verdict_count import verdict_count
from analysis.charts.wall_states import wall_states

__all__ = [
    "accountings_by_run",
    "block_by_prompt",
    "effect_by_class",
    "files_read",
    "forest",
    "memory_by_boot",
    "memory_curve",
    "memory_parts",
    "outcome_count",
    "pool_by_arm",
    "rate_over_time",
    "refusal_curve",
    "share_by_boot",
    "share_over_time",
    "shares_by_replica",
    "stall_ticks",
    "startup_timeline",
    "step_strip",
    "times_by_phase",
    "verdict_count",
    "wall_states",
]
