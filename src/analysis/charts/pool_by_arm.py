"""The token pool of every boot, by arm."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import HAS_INTERVAL, rows_axis
from analysis.charts.theme import INK, colour, filled, finish, shape


def pool_by_arm(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One point a boot at its pool in thousand tokens, in a band an arm: served filled, all others open.

    Columns boot, arm, outcome (served, refused, ...), tokens, low, high. The shaded bar from `low` to `high` is the
    prediction interval of the next boot of the arm, the same in each of its rows, null where there is none. A boot
    without a pool has no point: `subtitle` says how many there are.
    """
    rows = shorten(tidy(frame, "boot", "arm", "outcome", "tokens", "low", "high"), "arm").sort("arm", "tokens", "boot")
    rows = rows.with_columns(pl.col("tokens", "low", "high") / 1000, pl.int_range(pl.len()).over("arm").alias("place"))
    arms, outcomes = ordered(rows, "arm"), ordered(rows, "outcome")
    base = alt.Chart(rows).encode(y=rows_axis(arms, "arm"))
    boots = base.mark_point().transform_filter("isValid(datum.tokens)").encode(
        x=alt.X("tokens:Q", title="token pool (thousand tokens)", scale=alt.Scale(zero=False)),
        yOffset=alt.YOffset("place:O"),
        stroke=alt.Stroke("outcome:N", scale=colour(outcomes)),
        fill=alt.Fill("outcome:N", scale=filled(outcomes, "served")),
        shape=alt.Shape("outcome:N", scale=shape(outcomes)),
    )  # fmt: skip
    band = base.mark_rect(color=INK, opacity=0.13).transform_filter(f"datum.place === 0 && {HAS_INTERVAL}")
    band = band.encode(x="low:Q", x2="high:Q")
    tallest = max(rows["place"].to_list(), default=0) + 1
    return finish(band + boots, title, subtitle, description).properties(height=len(arms) * max(40, 14 * tallest))
