"""What each lever could save, by run."""

import altair as alt

from analysis.charts.frames import Frame, shorten, tidy
from analysis.charts.marks import PERCENT, coloured, interval, points, rows_axis, shaped, spaced
from analysis.charts.theme import finish

LINE = 15
"""Pixels of height for each lever of a run."""


def levers(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A row a run, in it a line a lever: a rule from the low to the high end of what it could save, in % of the time.

    Columns label (run), group (lever), value, low, high; runs and levers in the order given. A lever with a range only
    has no value, and its rule has no point.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high"), "label")
    groups, labels = (rows[c].unique(maintain_order=True).to_list() for c in ("group", "label"))
    base = alt.Chart(rows).encode(y=rows_axis(labels), yOffset=alt.YOffset("group:N", sort=groups))
    x = alt.X("value:Q", title=None, axis=PERCENT, scale=alt.Scale(domain=[0, 100], nice=False))
    known = shaped(base.transform_filter("isValid(datum.value)"), groups)
    layers = alt.layer(interval(coloured(base, groups)), *points(known, x))
    return finish(layers.properties(height=spaced(labels, LINE, len(groups))), title, subtitle, description)
