"""Ratios of arms with their intervals, all on one axis."""

from math import log2

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import interval, points, shaped
from analysis.charts.theme import INK, finish

# A row's key is "measure \n arm \n label?"; the first row of a measure carries its name on the axis.
_MEASURE_AT_FIRST = "split(datum.value, '\\n')[2] ? split(datum.value, '\\n')[0] : ''"
FARTHEST = 16.0
"""The axis ends here at the latest, and at its inverse: intervals that go on are cut."""


def forest(frame: Frame, margin: float, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One point a measure and arm at its ratio over the base arm, with its interval; the same axis for all.

    Columns measure, arm, value, low, high; a row without a value is left out. A point is open where it has no interval.
    Shaded: ratios that `margin` (a share) counts as the same. Measures come in the order of the frame.
    """
    rows = shorten(shorten(tidy(frame, "measure", "arm", "value", "low", "high").drop_nulls("value"), "measure"), "arm")
    end = _end(rows)
    inside = pl.col("value", "low", "high").clip(1 / end, end)
    arms = ordered(rows, "arm")
    rows, keys = _in_rows(rows.with_columns(inside), arms)
    scale = alt.Scale(type="log", domain=[1 / end, end], nice=False)
    ticks = [2.0**power for power in range(-int(log2(end)), int(log2(end)) + 1)]
    axis = alt.Axis(values=ticks, labelExpr="datum.value < 1 ? '1/' + format(1 / datum.value, '~r') : format(datum.value, '~r')")
    x = alt.X("value:Q", title="ratio over the base arm (logarithmic)", scale=scale, axis=axis)
    row_axis = alt.Axis(labelExpr=_MEASURE_AT_FIRST, ticks=False, domain=False)
    y = alt.Y("row:N", scale=alt.Scale(domain=keys, padding=0), sort=keys, title=None, axis=row_axis)
    base = shaped(alt.Chart(rows).encode(y=y), arms, "arm")
    lines = interval(base.encode(shape=alt.Undefined)).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    same = pl.DataFrame({"low": [1 / (1 + margin)], "high": [1 + margin], "one": [1.0]})
    band = alt.Chart(same).mark_rect(color=INK, opacity=0.12).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    one = alt.Chart(same).mark_rule(color=INK, strokeWidth=1, opacity=0.6).encode(x=alt.X("one:Q", scale=scale))
    chart = alt.layer(band, one, lines, *points(base, x))
    return finish(chart, title, subtitle, description).properties(height=alt.Step(15))


def _end(rows: pl.DataFrame) -> float:
    """The right end of the axis, a power of two that holds all values and, up to FARTHEST, all intervals."""
    known = [v for column in ("value", "low", "high") for v in rows[column].drop_nulls().to_list() if v > 0]
    reach = max((abs(log2(v)) for v in known), default=1.0)
    return min(2.0 ** max(1, int(-(-reach // 1))), FARTHEST)


def _in_rows(rows: pl.DataFrame, arms: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """The rows by measure and arm, each with its key in the column `row`; and all keys, a gap between measures."""
    order = pl.DataFrame({"arm": arms, "_place": range(len(arms))}, {"arm": pl.String, "_place": pl.Int64})
    parts, keys = [], list[str]()
    for measure in rows["measure"].unique(maintain_order=True):
        part = rows.filter(pl.col("measure") == measure).join(order, on="arm").sort("_place")
        names = [f"{measure}\n{arm}\n{'label' if i == 0 else ''}" for i, arm in enumerate(part["arm"])]
        parts.append(part.drop("_place").with_columns(pl.Series("row", names, pl.String)))
        keys += [*([f"{measure}\ngap\n"] if keys else []), *names]
    return (pl.concat(parts) if parts else rows.with_columns(row=pl.lit("")).clear()), keys
