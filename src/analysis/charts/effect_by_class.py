"""What changed for a class when another came: differences with their intervals, around zero."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import coloured, interval, points, rows_axis, shaped, spaced
from analysis.charts.theme import INK, finish

SMALL_S = 0.1
"""Below this the axis is linear, above logarithmic: differences reach from milliseconds to a minute, either way."""


def effect_by_class(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A row a label and, in it, a point a group at its difference in s, a rule over its interval; a line at zero.

    Columns label, group, value, low, high. Without an interval the point is open.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high"), "label")
    groups = ordered(rows, "group")
    offset = alt.YOffset("group:N", sort=groups, scale=alt.Scale(paddingInner=0.3))
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label")), yOffset=offset)
    scale = alt.Scale(type="symlog", constant=SMALL_S, padding=12)
    axis = alt.Axis(values=[-100, -10, -1, 0, 1, 10, 100], labelExpr="datum.label + ' s'")
    x = alt.X("value:Q", title=None, axis=axis, scale=scale)
    zero = alt.Chart(pl.DataFrame({"_zero": [0.0]})).mark_rule(color=INK, strokeWidth=1, strokeDash=[4, 3], aria=False)
    zero = zero.encode(x=alt.X("_zero:Q", scale=scale, axis=axis))
    layers = alt.layer(zero, interval(coloured(base, groups)), *points(shaped(base, groups), x))
    return finish(layers, title, subtitle, description).properties(height=spaced(rows["label"], 18, len(groups)))
