"""The token pool of every boot, by arm."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import HAS_INTERVAL, points, rows_axis
from analysis.charts.theme import INK, colour, finish, shape


def pool_by_arm(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One point a boot at its pool in thousand tokens, in a band an arm: served filled, refused open and square.

    Columns boot, arm, outcome (served, refused, ...), tokens, low, high. The shaded bar from `low` to `high` is the
    prediction interval of the next boot of the arm, the same in each of its rows, null where there is none. A boot
    without a pool has no point: `subtitle` says how many there are.
    """
    rows = shorten(tidy(frame, "boot", "arm", "outcome", "tokens", "low", "high"), "arm")
    rows = rows.with_columns(pl.col("tokens", "low", "high") / 1000).sort("arm", "tokens", "boot")
    rows = rows.with_columns(pl.int_range(pl.len()).over("arm").alias("place"))
    arms, outcomes = ordered(rows, "arm"), sorted(ordered(rows, "outcome"), key=lambda o: (o != "served", o))
    step = 14 * max(2, int(rows["place"].max() or 0) + 2)  # type: ignore[call-overload]
    base = alt.Chart(rows, height=alt.Step(step)).encode(y=rows_axis(arms, "arm"))
    marks = base.transform_filter("isValid(datum.tokens)").encode(
        yOffset=alt.YOffset("place:O"),
        color=alt.Color("outcome:N", scale=colour(outcomes), legend=alt.Legend()),
        shape=alt.Shape("outcome:N", scale=shape(outcomes), legend=alt.Legend()),
    )
    x = alt.X("tokens:Q", title="token pool (thousand tokens)", scale=alt.Scale(zero=False, nice=True))
    band = alt.Chart(rows.unique("arm").sort("arm")).mark_bar(color=INK, opacity=0.13).transform_filter(HAS_INTERVAL)
    band = band.encode(y=rows_axis(arms, "arm"), x="low:Q", x2="high:Q")
    return finish(band + points(marks, x, "datum.outcome === 'served'"), title, subtitle, description)
