"""Memory for the cache along a setting, over what a longest request needs: where a boot is refused."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, headed, ordered, panelled, tidy
from analysis.charts.theme import COLOURS, INK, colour, filled, finish_panels, shape

PANEL = 190
"""Height of a panel in pixels."""


def memory_curve(
    frame: Frame, *, title: str, subtitle: str, description: str, along: str = "batch tokens"
) -> alt.FacetChart:
    """A panel a group: points at the boots' memory, the prediction of one more boot, and the need.

    Columns group, kind (boot, prediction, need), outcome (of boots), x (named by `along`), value, low, high,
    extrapolated. All memory in GiB. The band from `low` to `high` is the 95 % prediction interval; what is extrapolated
    is dashed. A boot below the line of the need is refused.
    """
    columns = ("group", "kind", "outcome", "x", "value", "low", "high", "extrapolated")
    rows = panelled(headed(tidy(frame, *columns).sort("group", "kind", "x")), kind="boot")
    boots = rows.filter(pl.col("kind") == "boot")
    most = max((v for v in boots["value"].drop_nulls()), default=1.0)
    most = max(
        most, max((v for v in rows.filter(pl.col("kind") != "boot")["value"].drop_nulls() if v < 3 * most), default=0.0)
    )
    outcomes = ordered(boots, "outcome")
    x = alt.X("x:Q", title=along, scale=alt.Scale(zero=False, nice=True))
    # A band of few boots is wider than any axis of use: it is cut there, and the table has its ends.
    y = alt.Y("value:Q", title="memory (GiB)", scale=alt.Scale(domain=[0, 1.25 * most], clamp=True, nice=False))
    base = alt.Chart()
    band = base.mark_area(opacity=0.16, color=INK).encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    band = band.transform_filter("datum.kind == 'prediction' && isValid(datum.low) && isValid(datum.high)")
    lines = [
        base.mark_line(color=ink, strokeDash=dash, strokeWidth=width).encode(x=x, y=y)
        .transform_filter(f"datum.kind == '{kind}' && {'' if beyond else '!'}datum.extrapolated")
        for kind, ink, width in (("prediction", COLOURS[0], 2), ("need", COLOURS[1], 2.5))
        for beyond, dash in ((False, [1, 0]), (True, [5, 4]))
    ]  # fmt: skip
    dots = base.mark_point(size=80, strokeWidth=2).transform_filter("datum.kind == 'boot'").encode(
        x=x, y=y,
        stroke=alt.Stroke("outcome:N", scale=colour(outcomes)),
        fill=alt.Fill("outcome:N", scale=filled(outcomes, "served")),
        shape=alt.Shape("outcome:N", scale=shape(outcomes)),
    )  # fmt: skip
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4, labelLimit=0)
    panels = alt.layer(band, *lines, dots, data=rows).properties(height=PANEL).facet(
        row=alt.Row("group:N", sort=ordered(rows, "group"), header=header), spacing=14
    ).resolve_scale(x="independent", y="independent")  # fmt: skip
    return finish_panels(panels, title, subtitle, description)
