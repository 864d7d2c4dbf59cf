"""What the seconds of the clock were spent in, by run."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import PERCENT, interval, rows_axis, spaced
from analysis.charts.theme import INK, colour, finish

STATES = ["prefill only", "both", "decode only", "idle"]
"""From left to right: the two with a prefill first, so that their common end is the share of any prefill."""


def wall_states(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A bar a run, divided into states; a rule over the interval of the share in which any prefill was running.

    Columns label (run), state (one of STATES), value, and low, high: the ends of that interval, the same in each row of
    a run, null where there is none; all in %. The rule lies around the common end of the first two states.
    """
    rows = shorten(tidy(frame, "label", "state", "value", "low", "high"), "label")
    places = {state: i for i, state in enumerate(STATES)}
    rows = rows.with_columns(pl.col("state").replace_strict(places, default=9, return_dtype=pl.Int64).alias("_place"))
    rows = rows.sort("label", "_place").with_columns(pl.col("value").cum_sum().over("label").alias("end"))
    rows = rows.with_columns((pl.col("end") - pl.col("value")).alias("start"))
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label")))
    x = alt.X("start:Q", title=None, axis=PERCENT, scale=alt.Scale(domain=[0, 100], nice=False))
    fill = alt.Color("state:N", scale=colour(STATES), sort=STATES, legend=alt.Legend())
    bars = base.mark_bar(height=alt.RelativeBandSize(0.6), opacity=0.75).encode(x=x, x2="end:Q", color=fill)
    ends = base.transform_filter("datum._place == 1")
    rule = interval(ends.encode(color=alt.value(INK)))
    tick = ends.mark_tick(color=INK, thickness=3, size=22).encode(x="end:Q")
    return finish(alt.layer(bars, rule, tick), title, subtitle, description).properties(height=spaced(rows["label"]))
