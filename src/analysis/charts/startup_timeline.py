"""What each boot did until it was ready."""

import altair as alt

from analysis.charts.frames import Frame, shorten, tidy
from analysis.charts.marks import rows_axis, spaced
from analysis.charts.theme import colour, finish


def startup_timeline(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One row a boot, in the order of the frame, and a bar from `start_s` to `end_s` for each phase of its start-up.

    Columns label, phase, stage (the phase's place), start_s, end_s. Phases have the order of their stages.
    """
    rows = shorten(tidy(frame, "label", "phase", "stage", "start_s", "end_s"), "label")
    phases = rows.select("phase", "stage").unique().sort("stage")["phase"].to_list()
    bars = alt.Chart(rows).mark_bar(height=alt.RelativeBandSize(0.7)).encode(
        x=alt.X("start_s:Q", title="seconds since the first line of the log"),
        x2="end_s:Q",
        y=rows_axis(rows["label"].unique(maintain_order=True).to_list()),
        color=alt.Color("phase:N", scale=colour(phases), sort=phases),
    )  # fmt: skip
    return finish(alt.layer(bars), title, subtitle, description).properties(height=spaced(rows["label"]))
