"""What streams got while a long prompt had its turn: the picture of a stall."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, shorten, tidy
from analysis.charts.theme import COLOURS, INK, finish


def stall_ticks(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A row of ticks a stream, one an arrival; above them a bar while the long prompt waits; shaded where all stall.

    Columns run, row (long prompt, stream 1, ...; empty for a stall), kind (turn, token, stall), start_s, end_s: seconds
    from the sending of the long prompt of that run. The runs stand below each other.
    """
    rows = shorten(tidy(frame, "run", "row", "kind", "start_s", "end_s"), "run", 1)
    runs = rows["run"].unique(maintain_order=True).to_list()
    keys, first, last = list[str](), dict[str, str](), dict[str, str]()
    for run in runs:
        names = rows.filter((pl.col("run") == run) & (pl.col("row") != ""))["row"].unique(maintain_order=True).to_list()
        own = [f"{run}\n{name}" for name in names]
        first[run], last[run] = own[0], own[-1]
        keys += [*([f"{run}\n"] if keys else []), *own]  # an empty row before each run but the first
    rows = rows.with_columns(pl.format("{}\n{}", "run", "row").alias("_key"))
    shade = rows.filter(pl.col("kind") == "stall").with_columns(
        pl.col("run").replace_strict(first, default=None, return_dtype=pl.String).alias("_key"),
        pl.col("run").replace_strict(last, default=None, return_dtype=pl.String).alias("_key_end"),
    )
    name = "split(datum.value, '\\n')"
    label = f"{name}[1] == 'long prompt' ? {name}[0] + ': prompt' : {name}[1]"
    axis = alt.Axis(labelExpr=label, ticks=False, domain=False, grid=False)
    y = alt.Y("_key:N", scale=alt.Scale(domain=keys, padding=0), sort=keys, title=None, axis=axis)
    x = alt.X("start_s:Q", title="seconds since the long prompt was sent")
    stalls = alt.Chart(shade).mark_rect(color=INK, opacity=0.13).encode(
        x=x, x2="end_s:Q", y=y.bandPosition(0), y2=alt.Y2("_key_end:N", bandPosition=1)
    )  # fmt: skip
    turn = alt.Chart(rows.filter(pl.col("kind") == "turn")).mark_bar(color=COLOURS[1], height=10)
    ticks = alt.Chart(rows.filter(pl.col("kind") == "token")).mark_tick(color=COLOURS[0], thickness=2, height=14)
    layers = alt.layer(stalls, turn.encode(x=x, x2="end_s:Q", y=y), ticks.encode(x=x, y=y))
    return finish(layers, title, subtitle, description).properties(height=alt.Step(22))
