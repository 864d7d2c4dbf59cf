"""A rate along each phase, one value a block of time."""

import altair as alt

from analysis.charts.frames import Frame, ordered, thinned, tidy
from analysis.charts.theme import COLOURS, finish_panels
from analysis.redact import redact

PANEL = 70
"""Height of a panel in pixels."""
MOST_PANELS = 24


def rate_over_time(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.FacetChart:
    """A panel a group: the rate of each block over minutes, each panel with a scale of its own from zero.

    Columns group, minutes, rate (tokens/s). The first 24 groups are drawn; the table has all.
    """
    rows = tidy(frame, "group", "minutes", "rate")
    rows = rows.with_columns(group=rows["group"].replace({str(g): redact(str(g)).text for g in rows["group"].unique()}))
    groups = ordered(rows, "group")[:MOST_PANELS]
    rows, note = thinned(rows.filter(rows["group"].is_in(groups)).sort("group", "minutes"), "group", "minutes")
    y = alt.Y("rate:Q", title=None, axis=alt.Axis(tickCount=3), scale=alt.Scale(zero=True))
    base = alt.Chart().encode(x=alt.X("minutes:Q", title="minutes from the first block (upwards: tokens/s)"), y=y)
    marks = [base.mark_line(color=COLOURS[0]), base.mark_point(filled=True, size=40, color=COLOURS[0])]
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4)
    panels = alt.layer(*marks, data=rows).properties(height=PANEL).facet(
        row=alt.Row("group:N", sort=groups, header=header), spacing=10
    )  # fmt: skip
    panels = panels.resolve_scale(y="independent")
    return finish_panels(panels, title, subtitle + note, description)
