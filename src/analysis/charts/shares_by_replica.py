"""The shares of many replicas in order, with the range in which a replica like the others would lie."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, tidy
from analysis.charts.marks import PERCENT
from analysis.charts.theme import INK, colour, filled, finish, shape


def shares_by_replica(
    frame: Frame, low: float | None = None, high: float | None = None, *, title: str, subtitle: str, description: str
) -> alt.LayerChart:
    """One point a replica at its share (%) and its rank (%); a band from `low` to `high` (%), if there is one.

    Columns replica, value, rank, kind (alike, or unlike the others: open, and of another shape).
    """
    rows = tidy(frame, "replica", "value", "rank", "kind")
    kinds = ordered(rows, "kind")
    x = alt.X("value:Q", title=None, axis=PERCENT, scale=alt.Scale(zero=False, nice=True))
    y = alt.Y("rank:Q", title="replicas with at most this share", axis=PERCENT, scale=alt.Scale(domain=[0, 100]))
    points = alt.Chart(rows).mark_point(size=34).encode(
        x=x, y=y, stroke=alt.Stroke("kind:N", scale=colour(kinds)), shape=alt.Shape("kind:N", scale=shape(kinds)),
        fill=alt.Fill("kind:N", scale=filled(kinds, "alike")),
    )  # fmt: skip
    band = pl.DataFrame(
        {"value": [low], "high": [high]} if low is not None and high is not None else {"value": [], "high": []},
        schema={"value": pl.Float64, "high": pl.Float64},
    )
    shaded = alt.Chart(band).mark_rect(color=INK, fillOpacity=0.12).encode(x=x, x2="high:Q")
    return finish(alt.layer(shaded, points), title, subtitle, description).properties(height=260)
