"""The chance that a boot is refused, along batch tokens, by route."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, headed, ordered, panelled, tidy
from analysis.charts.marks import PERCENT
from analysis.charts.theme import colour, finish_panels, shape

PANEL = 130
"""Height of a panel in pixels."""


def refusal_curve(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.FacetChart:
    """A panel a group: the chance (%) along batch tokens, a line a route with a point at each setting asked about.

    Columns group, route, x (batch tokens), value, extrapolated. Points that are extrapolated are open.
    """
    rows = panelled(headed(tidy(frame, "group", "route", "x", "value", "extrapolated").sort("group", "route", "x")))
    rows = rows.with_columns(
        pl.when(pl.col("extrapolated")).then(pl.lit("")).otherwise(pl.col("route")).alias("_solid")
    )
    routes = ordered(rows, "route")
    y = alt.Y(
        "value:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(labelExpr=PERCENT.labelExpr, tickCount=3)
    )
    base = alt.Chart().encode(x=alt.X("x:Q", title="batch tokens", scale=alt.Scale(zero=False)), y=y)
    stroke = alt.Stroke("route:N", scale=colour(routes))
    fills = alt.Scale(domain=[*routes, ""], range=[*colour(routes).to_dict()["range"], "transparent"])
    line = base.transform_filter("isValid(datum.value)").mark_line(strokeWidth=1.5, opacity=0.7).encode(stroke=stroke)
    dots = base.mark_point(size=70, strokeWidth=2).encode(
        stroke=stroke, shape=alt.Shape("route:N", scale=shape(routes)),
        fill=alt.Fill("_solid:N", scale=fills, legend=None),
    )  # fmt: skip
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4, labelLimit=0)
    panels = alt.layer(line, dots, data=rows).properties(height=PANEL).facet(
        row=alt.Row("group:N", sort=ordered(rows, "group"), header=header), spacing=14
    ).resolve_scale(x="independent")  # fmt: skip
    return finish_panels(panels, title, subtitle, description)
