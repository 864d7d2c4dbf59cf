"""Ratios of arms with their intervals, all on one axis."""

from math import ceil, log2

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import coloured, interval, points, shaped
from analysis.charts.theme import INK, finish

# A row's key is "measure \n class \n arm \n label?"; the first row of a measure carries its name on the axis.
_NAME_AT_FIRST = "split(datum.value, '\\n')[3] ? slice(split(datum.value, '\\n'), 0, 2) : ''"


def forest(
    frame: Frame, *, margin: float = 0.05, farthest: float = 16.0, title: str, subtitle: str, description: str
) -> alt.LayerChart:
    """One point a measure and arm at its ratio over the base arm, with its interval; the same axis for all.

    Columns measure, class (null: none), arm, value, low, high. A row without a value, or with one beyond `farthest` or
    its inverse, is left out; intervals are cut there. A point is open where it has no interval. Shaded: ratios that
    `margin` (a share) counts as the same. Measures come in the order of the frame.
    """
    rows = tidy(frame, "measure", "class", "arm", "value", "low", "high").drop_nulls("value")
    rows = rows.filter(pl.col("value").is_between(1 / farthest, farthest)).with_columns(pl.col("class").fill_null(""))
    rows = shorten(shorten(shorten(rows, "measure", 1), "class", 1), "arm")
    end = _end(rows, farthest)
    arms = ordered(rows, "arm")
    rows, keys = _in_rows(rows.with_columns(pl.col("low", "high").clip(1 / end, end)), arms)
    scale = alt.Scale(type="log", domain=[1 / end, end], nice=False)
    powers = round(log2(end))
    ticks = [2.0**power for power in range(-powers, powers + 1) if powers < 4 or power % 2 == 0]
    fraction = "datum.value < 1 ? '1/' + format(1 / datum.value, '~r') : format(datum.value, '~r')"
    axis = alt.Axis(values=ticks, labelExpr=fraction, labelOverlap=False)
    x = alt.X("value:Q", title="ratio (logarithmic)", scale=scale, axis=axis)
    row_axis = alt.Axis(labelExpr=_NAME_AT_FIRST, ticks=False, domain=False)
    y = alt.Y("_row:N", scale=alt.Scale(domain=keys, padding=0), sort=keys, title=None, axis=row_axis)
    base = alt.Chart(rows).encode(y=y)
    lines = interval(coloured(base, arms, "arm")).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    same = pl.DataFrame({"_low": [1 / (1 + margin)], "_high": [1 + margin], "_one": [1.0]})
    band = (
        alt.Chart(same)
        .mark_rect(color=INK, opacity=0.12, aria=False)
        .encode(x=alt.X("_low:Q", scale=scale), x2="_high:Q")
    )
    one = (
        alt.Chart(same)
        .mark_rule(color=INK, strokeWidth=1, opacity=0.6, aria=False)
        .encode(x=alt.X("_one:Q", scale=scale))
    )
    chart = alt.layer(band, one, lines, *points(shaped(base, arms, "arm"), x))
    return finish(chart, title, subtitle, description).properties(height=alt.Step(16))


def _end(rows: pl.DataFrame, farthest: float) -> float:
    """The right end of the axis, a power of two that holds all values and, up to `farthest`, all intervals."""
    known = [v for column in ("value", "low", "high") for v in rows[column].drop_nulls().to_list() if v > 0]
    reach = max((abs(log2(v)) for v in known), default=1.0)
    return min(2.0 ** max(1, ceil(reach)), farthest)


def _in_rows(rows: pl.DataFrame, arms: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """The rows by measure and arm, each with its key in the column `_row`; and all keys, a gap between measures."""
    order = pl.DataFrame({"arm": arms, "_place": range(len(arms))}, {"arm": pl.String, "_place": pl.Int64})
    parts, keys = [], list[str]()
    for measure, name in rows.select("measure", "class").unique(maintain_order=True).iter_rows():
        part = rows.filter(pl.col("measure") == measure, pl.col("class") == name).join(order, on="arm").sort("_place")
        names = [f"{measure}\n{name}\n{arm}\n{'label' if i == 0 else ''}" for i, arm in enumerate(part["arm"])]
        parts.append(part.drop("_place").with_columns(pl.Series("_row", names, pl.String)))
        # A name in two lines needs their height.
        gaps = [f"{measure}\n{name}\ngap {i}\n" for i in range(2 if name and len(names) == 1 else 1)]
        keys += [*names, *gaps]
    return (pl.concat(parts) if parts else rows.with_columns(_row=pl.lit("")).clear()), keys
