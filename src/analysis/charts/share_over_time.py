"""A share along a run, one value for each scrape interval."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, tidy
from analysis.charts.marks import PERCENT
from analysis.charts.theme import INK, colour, dash, finish, shape


def share_over_time(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A line a group over the run: the share within each scrape interval, over the band of the whole run.

    Columns group, minutes (middle of the interval, from the first scrape), value, low, high; shares in %. The band from
    `low` to `high` is the interval of the run's share, the same in all rows of a group, null where there is none. A
    null value breaks the line: nothing finished in that interval.
    """
    rows = tidy(frame, "group", "minutes", "value", "low", "high").sort("group", "minutes")
    groups = ordered(rows, "group")
    legend = alt.Legend() if len(groups) > 1 else None
    base = alt.Chart(rows).encode(
        x=alt.X("minutes:Q", title="minutes from the first scrape"),
        y=alt.Y("value:Q", title=None, axis=PERCENT, scale=alt.Scale(domain=[0, 100])),
        color=alt.Color("group:N", scale=colour(groups), legend=legend),
    )
    bands = rows.group_by("group").agg(
        pl.col("minutes").min().alias("start"), pl.col("minutes").max().alias("end"), pl.col("low", "high").first()
    ).sort("group").drop_nulls()  # fmt: skip
    band = alt.Chart(bands).mark_rect(opacity=0.13, color=INK).encode(x="start:Q", x2="end:Q", y="low:Q", y2="high:Q")
    line = base.mark_line().encode(strokeDash=alt.StrokeDash("group:N", scale=dash(groups), legend=None))
    dots = base.mark_point(filled=True, size=40).encode(shape=alt.Shape("group:N", scale=shape(groups), legend=legend))
    return finish(band + line + dots, title, subtitle, description)
