"""One function, one chart: a tidy frame in, an Altair chart out. Charts read nothing and write nothing."""

from analysis.charts.accountings_by_run import accountings_by_run
from analysis.charts.files_read import files_read
from analysis.charts.levers import levers
from analysis.charts.memory_by_boot import memory_by_boot
from analysis.charts.outcome_count import outcome_count
from analysis.charts.pool_by_arm import pool_by_arm
from analysis.charts.seconds_by_length import seconds_by_length
from analysis.charts.share_by_boot import share_by_boot
from analysis.charts.share_over_time import share_over_time
from analysis.charts.wall_states import wall_states

__all__ = [
    "accountings_by_run",
    "files_read",
    "levers",
    "memory_by_boot",
    "outcome_count",
    "pool_by_arm",
    "seconds_by_length",
    "share_by_boot",
    "share_over_time",
    "wall_states",
]
