"""The few marks that all charts are made of."""

import altair as alt
import polars as pl

from analysis.charts.frames import ordered, shorten, tidy
from analysis.charts.theme import colour, finish, shape

HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"


def rows_axis(labels: list[str], field: str = "label") -> alt.Y:
    """One labelled row for each text, in the order given, with a thin line to guide the eye."""
    return alt.Y(f"{field}:N", sort=labels, title=None, axis=alt.Axis(grid=True, ticks=False, domain=False))


def interval(base: alt.Chart) -> alt.Chart:
    """A rule from `low` to `high` for the rows that have both ends."""
    return base.mark_rule().encode(x="low:Q", x2="high:Q").transform_filter(HAS_INTERVAL)


def points(base: alt.Chart, x: alt.X, filled_when: str = HAS_INTERVAL) -> alt.LayerChart:
    """A point a row: filled where the condition holds (an interval is known), open where it does not."""
    solid = base.mark_point(filled=True).encode(x=x).transform_filter(filled_when)
    hollow = base.mark_point(filled=False).encode(x=x).transform_filter(f"!({filled_when})")
    return solid + hollow


def by_group(base: alt.Chart, groups: list[str], field: str = "group") -> alt.Chart:
    """The base with its groups told apart by colour and by shape, with one legend for both."""
    legend = alt.Legend() if len(groups) > 1 else None
    return base.encode(
        color=alt.Color(f"{field}:N", scale=colour(groups), legend=legend),
        shape=alt.Shape(f"{field}:N", scale=shape(groups), legend=legend),
    )


def counts(
    rows: pl.DataFrame, row: str, part: str, unit: str, title: str, subtitle: str, description: str
) -> alt.LayerChart:
    """Bars of the count `n` of each `part` within each `row`, each labelled with its number and its name."""
    rows = shorten(tidy(rows, row, part, "n"), row)
    rows = rows.filter(pl.col("n") > 0).with_columns(
        pl.format("{} {}", "n", part).alias("_text"), pl.format("{} {}", row, part).alias("_bar")
    )
    parts, order = ordered(rows, part), ordered(rows, row)
    base = alt.Chart(rows).encode(
        y=rows_axis(order, row),
        yOffset=alt.YOffset(f"{part}:N", sort=parts),
        x=alt.X("n:Q", title=unit).axis(tickMinStep=1),
    )
    bars = base.mark_bar(height=alt.RelativeBandSize(0.8)).encode(
        color=alt.Color(f"{part}:N", scale=colour(parts), legend=None)
    )
    # The label stands inside the plot: the longest bar leaves a third of the width free for it.
    top = float(rows["n"].max() or 1) * 1.5  # type: ignore[arg-type]
    text = base.mark_text(align="left", dx=6).encode(text="_text:N", x=alt.X("n:Q", scale=alt.Scale(domain=[0, top])))
    return finish(bars + text, title, subtitle, description)
