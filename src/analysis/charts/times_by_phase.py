"""Median and tail of a time, by class, one mark a phase."""

import altair as alt

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import rows_axis, shaped, spaced
from analysis.charts.theme import finish

TICKS = [digit * 10.0**power for power in range(-3, 5) for digit in (1, 3)]
"""Labels of the axis, in s."""


def times_by_phase(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A row a label; in it, for each phase, a bar from `p50` (filled point) to `p95` (open point), in s on a log axis.

    Columns label, phase, p50, p95. What is null or not positive has no mark.
    """
    rows = shorten(tidy(frame, "label", "phase", "p50", "p95"), "label")
    phases = ordered(rows, "phase")
    offset = alt.YOffset("phase:N", sort=phases, scale=alt.Scale(paddingInner=0.3))
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label")), yOffset=offset)
    base = base.transform_filter("isValid(datum.p50) && isValid(datum.p95) && datum.p50 > 0")
    coloured = shaped(base, phases, "phase")
    label = "datum.value < 1 ? format(datum.value * 1000, '.3~g') + ' ms' : datum.value + ' s'"
    axis = alt.Axis(values=TICKS, labelExpr=label, labelOverlap=True)
    x = alt.X("p50:Q", title=None, axis=axis, scale=alt.Scale(type="log", nice=True))
    rule = base.encode(color=coloured.encoding.color).mark_rule().encode(x=x, x2="p95:Q")
    middle = coloured.mark_point(filled=True).encode(x=x)
    tail = coloured.mark_point(filled=False).encode(x=alt.X("p95:Q", axis=axis))
    return finish(alt.layer(rule, middle, tail), title, subtitle, description).properties(
        height=spaced(rows["label"], 20, len(phases))
    )
