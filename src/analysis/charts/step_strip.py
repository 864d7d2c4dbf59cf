"""Engine steps in a row, as wide as they took: whose turn it was."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, tidy
from analysis.charts.marks import rows_axis
from analysis.charts.theme import INK, colour, finish

KINDS = ["decode only", "prompt and decode", "prompt only"]


def step_strip(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A strip a run, one box an engine step, coloured by what it did.

    Columns run, kind (one of KINDS), prompt_tokens, start_s, end_s (seconds of step time from the first box).
    """
    rows = shorten(tidy(frame, "run", "kind", "prompt_tokens", "start_s", "end_s"), "run")
    kinds = [kind for kind in KINDS if kind in rows["kind"]]
    rows = rows.with_columns(pl.col("prompt_tokens").cast(pl.Float64))
    x = alt.X("start_s:Q", title="seconds of engine steps")
    fill = alt.Color("kind:N", scale=colour(KINDS), legend=alt.Legend(values=kinds or KINDS))
    base = alt.Chart(rows).encode(x=x, x2="end_s:Q", y=rows_axis(ordered(rows, "run"), "run"))
    boxes = base.mark_bar(height=24, stroke=INK, strokeWidth=0.6, strokeOpacity=0.7).encode(color=fill)
    return finish(alt.layer(boxes), title, subtitle, description).properties(height=alt.Step(44))
