"""One quantity in several accountings, by run."""

import altair as alt

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import PERCENT, coloured, interval, points, rows_axis, shaped, share_scale, spaced
from analysis.charts.theme import finish

LINE = 16
"""Pixels of height for each accounting of a run."""


def accountings_by_run(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A row a run, in it a line an accounting: a point at its share and a rule over the interval of that share.

    Columns label (run), group (accounting), value, low, high; shares in %. An accounting keeps its line in every run;
    one that a run does not have is not drawn.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high").drop_nulls("value"), "label")
    groups = ordered(rows, "group")
    lines = alt.YOffset("group:N", sort=groups)
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label")), yOffset=lines)
    x = alt.X("value:Q", title=None, axis=PERCENT, scale=share_scale(rows, "value", "high"))
    layers = alt.layer(interval(coloured(base, groups)), *points(shaped(base, groups), x))
    return finish(layers.properties(height=spaced(rows["label"], LINE, len(groups))), title, subtitle, description)
