"""Shares of each boot with their intervals."""

import altair as alt

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import PERCENT, coloured, interval, points, rows_axis, shaped, share_scale, spaced
from analysis.charts.theme import finish


def share_by_boot(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One row a boot: a point at its share and a rule over the interval of that share.

    Columns label, group, value, low, high; shares in %, on an axis from 0 to a round number. The interval is the
    one of each row's estimate (in `subtitle`, say which); a row without one, or with an unlimited end, is an open
    point, no rule. More than six groups are not told apart: the rows are in their order.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high"), "label")
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label", "group")))
    groups = ordered(rows, "group")
    x = alt.X("value:Q", title=None, axis=PERCENT, scale=share_scale(rows, "value", "high"))
    return finish(
        alt.layer(interval(coloured(base, groups)), *points(shaped(base, groups), x)), title, subtitle, description
    ).properties(height=spaced(rows["label"]))
