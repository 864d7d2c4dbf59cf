"""Memory that each boot had for the cache, against what one longest request needs."""

import altair as alt

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import coloured, interval, points, rows_axis, shaped
from analysis.charts.theme import INK, finish


def memory_by_boot(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One row a boot: a point at the memory available to the cache, a tick at the memory that was needed.

    Columns label, group (arm or outcome), value, low, high, needed; all in GiB; low, high and needed may be null. The
    rule is the range that the log's rounding leaves; a row without one is an open point.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high", "needed"), "label")
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label", "group")))
    groups = ordered(rows, "group")
    x = alt.X("value:Q", title="memory (GiB); tick: needed for one longest request", scale=alt.Scale(zero=False))
    needed = (
        base.mark_tick(color=INK, thickness=2.5, size=18).encode(x="needed:Q").transform_filter("isValid(datum.needed)")
    )
    return finish(
        alt.layer(needed, interval(coloured(base, groups)), *points(shaped(base, groups), x)),
        title,
        subtitle,
        description,
    )
