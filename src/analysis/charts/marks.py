"""The few marks that all charts are made of."""

from collections.abc import Iterable
from math import ceil, floor, log10

import altair as alt
import polars as pl

from analysis.charts.frames import BREAK, Frame, ordered, shorten, tidy
from analysis.charts.theme import COLOURS, SHAPES, colour, finish, shape

HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"
PERCENT = alt.Axis(labelExpr="datum.label + ' %'")
ROW, TWO_LINES = 26, 36
"""Height of a row in pixels; the least of one whose label has two lines."""
_NICE = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def rows_axis(labels: list[str], field: str = "label", label: str = "datum.label") -> alt.Y:
    """One labelled row for each text, in the order given, with a thin line to guide the eye."""
    axis = alt.Axis(grid=True, ticks=False, domain=False, labelPadding=10, labelExpr=label)
    return alt.Y(f"{field}:N", sort=labels, title=None, axis=axis)


def spaced(labels: Iterable[str], line: int = ROW, lines: int = 1) -> alt.Step:
    """The height of a line, of which a row has `lines`: more where a label of two lines would not fit into its row."""
    two = any(BREAK in str(label) for label in labels)
    return alt.Step(max(line, ceil(TWO_LINES / max(lines, 1))) if two else line)


def interval(base: alt.Chart) -> alt.Chart:
    """A rule from `low` to `high` for the rows that have both ends."""
    return base.mark_rule().encode(x="low:Q", x2="high:Q").transform_filter(HAS_INTERVAL)


def points(base: alt.Chart, x: alt.X) -> list[alt.Chart]:
    """A point a row: filled where its interval is known, open where it is not."""
    solid = base.mark_point(filled=True).encode(x=x).transform_filter(HAS_INTERVAL)
    hollow = base.mark_point(filled=False).encode(x=x).transform_filter(f"!({HAS_INTERVAL})")
    return [solid, hollow]


def share_scale(rows: pl.DataFrame, *columns: str) -> alt.Scale:
    """A scale for shares in %: from 0 to a round number at or above the highest value of the columns, 100 at most."""
    known = [value for column in columns for value in rows[column].drop_nulls()]
    highest = min(max(known, default=100.0), 100.0)
    if highest <= 0:
        return alt.Scale(domain=[0, 100])
    power = 10.0 ** floor(log10(highest))
    return alt.Scale(domain=[0, next(n for n in _NICE if n * power >= highest * (1 - 1e-12)) * power], nice=False)


def coloured(base: alt.Chart, groups: list[str], field: str = "group") -> alt.Chart:
    """The base with its groups told apart by colour; in one colour where there are more groups than colours."""
    if len(groups) > len(COLOURS):
        return base.encode(color=alt.value(COLOURS[0]))
    legend = alt.Legend() if len(groups) > 1 else None
    return base.encode(color=alt.Color(f"{field}:N", scale=colour(groups), legend=legend))


def shaped(base: alt.Chart, groups: list[str], field: str = "group") -> alt.Chart:
    """The base with its groups told apart by colour and shape, with one legend; all alike for too many groups.

    For points only: Vega-Lite puts points of its own on the ends of a rule that has a shape.
    """
    if len(groups) > len(SHAPES):
        return coloured(base, groups, field)
    legend = alt.Legend() if len(groups) > 1 else None
    base = coloured(base, groups, field)
    return base.encode(shape=alt.Shape(f"{field}:N", scale=shape(groups), legend=legend))


def counts(
    frame: Frame, row: str, part: str, unit: str, *, title: str, subtitle: str, description: str
) -> alt.LayerChart:
    """A bar for each `row` and `part` that has any, labelled with its count `n` and the part's name."""
    rows = shorten(tidy(frame, row, part, "n").filter(pl.col("n") > 0), row)
    parts = ordered(rows, part)
    order = pl.DataFrame({row: ordered(rows, row)}, {row: pl.String}).join(
        pl.DataFrame({part: parts}, {part: pl.String}), how="cross"
    )
    rows = order.join(rows, on=[row, part], how="left", maintain_order="left").drop_nulls("n")
    rows = rows.with_columns(pl.format("{} {}", "n", part).alias("text"), pl.format("{}\n{}", row, part).alias("bar"))
    y = rows_axis(rows["bar"].to_list(), "bar", "split(datum.value, '\\n')[0]")
    # The text stands beside its bar: the axis leaves a third of the width free for it.
    room = alt.Scale(domain=[0, 1.5 * max(rows["n"].to_list(), default=1)], nice=False)
    base = alt.Chart(rows).encode(y=y, x=alt.X("n:Q", title=unit, scale=room).axis(tickMinStep=1))
    bars = base.mark_bar(height=alt.RelativeBandSize(0.7)).encode(
        color=alt.Color(f"{part}:N", scale=colour(parts), legend=None)
    )
    text = base.mark_text(align="left", dx=6).encode(text="text:N")
    return finish(bars + text, title, subtitle, description).properties(height=spaced(rows[row]))
