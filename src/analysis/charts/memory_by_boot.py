"""Memory that each boot had for the cache, against what one longest request needs."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import coloured, interval, points, rows_axis, shaped, spaced
from analysis.charts.theme import INK, finish


def memory_by_boot(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """One row a boot: a point at the memory available to the cache, a tick at the memory that was needed.

    Columns label, group (arm or outcome), value, low, high, needed; all in GiB; low, high and needed may be null. The
    rule is the range that the log's rounding leaves; a row without one is an open point. The tick is labelled.
    """
    rows = shorten(tidy(frame, "label", "group", "value", "low", "high", "needed"), "label")
    half = max((v for c in ("value", "needed") for v in rows[c].drop_nulls()), default=0.0) / 2
    text = pl.format("needs {}", pl.col("needed").round_sig_figs(3))
    rows = rows.with_columns(text.alias("text"), (pl.col("needed") > half).alias("far"))
    base = alt.Chart(rows).encode(y=rows_axis(ordered(rows, "label", "group")))
    groups = ordered(rows, "group")
    x = alt.X("value:Q", title="memory (GiB)", scale=alt.Scale(zero=True))
    needed = base.encode(x="needed:Q").transform_filter("isValid(datum.needed)")
    tick = needed.mark_tick(color=INK, thickness=3, size=20)
    # The label stands on the side where there is room for it.
    left = needed.mark_text(align="left", dx=7).encode(text="text:N").transform_filter("!datum.far")
    right = needed.mark_text(align="right", dx=-12).encode(text="text:N").transform_filter("datum.far")
    layers = [tick, left, right, interval(coloured(base, groups)), *points(shaped(base, groups), x)]
    return finish(alt.layer(*layers), title, subtitle, description).properties(height=spaced(rows["label"]))
