"""A share along each run, one value for each scrape interval."""

import altair as alt

from analysis.charts.frames import Frame, ordered, tidy
from analysis.charts.marks import PERCENT, share_scale
from analysis.charts.theme import COLOURS, INK, finish_panels

PANEL = 84
"""Height of a run's panel in pixels."""


def share_over_time(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.FacetChart:
    """A panel a group: the share within each scrape interval, over the band of the whole run. All axes are shared.

    Columns group, minutes (middle of the interval, from the first scrape), value, band_low, band_high; shares in %. The
    band is the interval of the run's share, the same in all rows of a group, null where there is none. A null value
    breaks the line: nothing finished in that interval.
    """
    rows = tidy(frame, "group", "minutes", "value", "band_low", "band_high").sort("group", "minutes")
    y = alt.Y(
        "value:Q", title=None, axis=alt.Axis(labelExpr=PERCENT.labelExpr, tickCount=3),
        scale=share_scale(rows, "value", "band_high"),
    )  # fmt: skip
    band = (
        alt.Chart()
        .mark_rect(opacity=0.18, color=INK)
        .transform_filter("isValid(datum.band_low) && isValid(datum.band_high)")
    )
    band = band.encode(x="min(minutes):Q", x2="max(minutes):Q", y="min(band_low):Q", y2="min(band_high):Q")
    base = alt.Chart().encode(x=alt.X("minutes:Q", title="minutes from the first scrape"), y=y)
    line = base.mark_line(color=COLOURS[0])
    dots = base.mark_point(filled=True, size=30, color=COLOURS[0])
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=4)
    panels = alt.layer(band, line, dots, data=rows).properties(height=PANEL).facet(
        row=alt.Row("group:N", sort=ordered(rows, "group"), header=header), spacing=10
    )  # fmt: skip
    return finish_panels(panels, title, subtitle, description)
