"""What each boot's memory went to."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import rows_axis, spaced
from analysis.charts.theme import COLOURS, INK, finish


def memory_parts(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A stacked bar a boot: its parts in GiB, in the order of their first appearance; the last one is the cache.

    Columns label, arm, part, value. The white line between two parts keeps them apart in print.
    """
    rows = shorten(tidy(frame, "label", "arm", "part", "value"), "label")
    parts = [p for p in dict.fromkeys(rows["part"]) if p != "KV cache"] + ["KV cache"]
    rows = rows.with_columns(pl.col("part").replace_strict(parts, range(len(parts)), default=0).alias("_place"))
    scale = alt.Scale(domain=parts, range=[*COLOURS[1 : len(parts)], COLOURS[0]] if len(parts) <= len(COLOURS) else [
        *(COLOURS[1 + i % (len(COLOURS) - 1)] for i in range(len(parts) - 1)), COLOURS[0]
    ])  # fmt: skip
    bars = alt.Chart(rows).mark_bar(stroke=INK, strokeOpacity=0.4, height=alt.RelativeBandSize(0.72)).encode(
        y=rows_axis(ordered(rows, "label", "arm")),
        x=alt.X("value:Q", title="memory (GiB)", stack="zero"),
        color=alt.Color("part:N", scale=scale, sort=parts),
        order=alt.Order("_place:Q"),
    )  # fmt: skip
    return finish(alt.layer(bars), title, subtitle, description).properties(height=spaced(rows["label"]))
