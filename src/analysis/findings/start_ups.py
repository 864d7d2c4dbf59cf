"""How long boots took until they were ready: from the log's first line, and from the start of the process.

What a process does before it prints its first line is in the second alone. The two are shown side by side, each a
figure of its own.
"""

import polars as pl

from analysis.estimates.rounding import show_number

LOG, PROCESS = "from the log's first line", "from the start of the process"


def apart(boots: pl.DataFrame) -> str:
    """In how many boots the two differ by more than their times tell apart, and by how much; empty where in none.

    `boots` has ready_s, process_ready_s and ready_step_s (view arm_boots).
    """
    later = pl.col("process_ready_s") - pl.col("ready_s")
    both = boots.drop_nulls(["ready_s", "process_ready_s", "ready_step_s"]).with_columns(later=later)
    beyond = both.filter(pl.col("later").abs() > pl.col("ready_step_s"))
    if beyond.is_empty():
        return ""
    ends = dict.fromkeys(
        show_number(end, "s") for end in sorted(beyond["later"].to_list())[:: max(beyond.height - 1, 1)]
    )
    step = show_number(max(beyond["ready_step_s"].to_list()), "s", digits=1)
    return (
        f"counted {PROCESS}, {beyond.height} of {both.height} boots were ready {' to '.join(ends)}"
        f" later than counted {LOG}, where times are told apart to {step}"
    )
