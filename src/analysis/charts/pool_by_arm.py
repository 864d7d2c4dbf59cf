"""The token pool of every boot, by arm."""

import altair as alt
import polars as pl

from analysis.charts.frames import BREAK, Frame, ordered, shorten, tidy
from analysis.charts.marks import HAS_INTERVAL
from analysis.charts.theme import INK, colour, filled, finish, shape

# A row's key is "arm \n place \n label?"; the row in the middle of its arm carries the arm's name on the axis.
_ARM_AT_MIDDLE = "split(datum.value, '\\n')[2] ? split(datum.value, '\\n')[0] : ''"


def pool_by_arm(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One point a boot at its pool in thousand tokens, in a band an arm: served filled, all others open.

    Columns boot, arm, outcome (served, refused, ...), tokens, low, high. The shaded bar from `low` to `high` is the
    prediction interval of the next boot of the arm, the same in each of its rows, null where there is none. A boot
    without a pool has no point: `subtitle` says how many there are.
    """
    rows = shorten(tidy(frame, "boot", "arm", "outcome", "tokens", "low", "high"), "arm")
    rows, keys = _in_rows(rows.with_columns(pl.col("tokens", "low", "high") / 1000))
    outcomes = ordered(rows, "outcome")
    axis = alt.Axis(labelExpr=_ARM_AT_MIDDLE, ticks=False, domain=False)
    y = alt.Y("_row:N", scale=alt.Scale(domain=keys, padding=0), sort=keys, title=None, axis=axis)
    boots = alt.Chart(rows).mark_point().transform_filter("isValid(datum.tokens)").encode(
        x=alt.X("tokens:Q", title="token pool (thousand tokens)", scale=alt.Scale(zero=False)),
        y=y,
        stroke=alt.Stroke("outcome:N", scale=colour(outcomes)),
        fill=alt.Fill("outcome:N", scale=filled(outcomes, "served")),
        shape=alt.Shape("outcome:N", scale=shape(outcomes)),
    )  # fmt: skip
    arms = rows.group_by("arm").agg(
        pl.col("_row").first(), pl.col("_row").last().alias("_end"), pl.col("low", "high").first()
    )
    band = alt.Chart(arms.sort("arm")).mark_rect(color=INK, fillOpacity=0.16, stroke=INK, strokeOpacity=0.5)
    band = band.transform_filter(HAS_INTERVAL).encode(
        x="low:Q", x2="high:Q", y=y.bandPosition(0), y2=alt.Y2("_end:N", bandPosition=1)
    )
    return finish(alt.layer(band, boots), title, subtitle, description).properties(height=alt.Step(16))


def _in_rows(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The boots by arm and pool, the key of each one's row in the column `_row`; and all keys, a gap between arms."""
    parts, keys = [], list[str]()
    for arm in ordered(rows, "arm"):
        part = rows.filter(pl.col("arm") == arm).sort("tokens", "boot", nulls_last=True)
        drawn = max(1, part.height - part["tokens"].null_count())
        names = [f"{arm}\n{i}\n{'label' if i == (drawn - 1) // 2 else ''}" for i in range(drawn)]
        parts.append(part.head(drawn).with_columns(pl.Series("_row", names, pl.String)))
        keys += [*([f"{arm}\ngap\n"] if keys else []), *names]
    if keys and BREAK in keys[-1]:  # the second line of the last name stands below its row
        arm = keys[-1].partition("\n")[0]
        keys.append(f"{arm}\nend\n")
    return (pl.concat(parts) if parts else rows.with_columns(pl.lit("").alias("_row"))), keys
