"""Seconds of prefill and of decode by prompt length, a panel a run."""

import altair as alt

from analysis.charts.frames import Frame, ordered, tidy
from analysis.charts.theme import colour, finish_panels, shape

DECADES = [10.0**k for k in range(-3, 6)]
LENGTHS = [n * 10**k for k in range(7) for n in (1, 2, 5)]
PANEL = 110
"""Height of a run's panel in pixels."""


def seconds_by_length(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.FacetChart:
    """A panel a group (run): points at mean prompt tokens and mean seconds of prefill and decode, with their intervals.

    Columns group, phase (prefill, decode), tokens, value, low, high (s); low and high null where there is no interval.
    Axes are shared and logarithmic: prompts and seconds span orders of magnitude. Values of zero have no point.
    """
    rows = tidy(frame, "group", "phase", "tokens", "value", "low", "high").sort("group", "phase", "tokens")
    rows = rows.filter((rows["value"] > 0) & (rows["tokens"] > 0))
    phases = ordered(rows, "phase")
    log = alt.Scale(type="log", nice=False, padding=10)
    hue = alt.Color("phase:N", scale=colour(phases), legend=alt.Legend() if phases else None)
    base = alt.Chart().encode(
        x=alt.X("tokens:Q", title="prompt tokens", scale=log, axis=alt.Axis(values=LENGTHS)), color=hue
    )
    y = alt.Y("value:Q", title="s", scale=log, axis=alt.Axis(values=DECADES))
    rule = base.mark_rule().encode(y=alt.Y("low:Q", scale=log), y2="high:Q")
    rule = rule.transform_filter("isValid(datum.low) && isValid(datum.high)")
    line = base.mark_line(strokeWidth=1, opacity=0.6).encode(y=y)
    dots = base.mark_point(filled=True).encode(y=y, shape=alt.Shape("phase:N", scale=shape(phases)))
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4)
    panels = alt.layer(rule, line, dots, data=rows).properties(height=PANEL).facet(
        row=alt.Row("group:N", sort=ordered(rows, "group"), header=header), spacing=10
    )  # fmt: skip
    return finish_panels(panels, title, subtitle, description)
