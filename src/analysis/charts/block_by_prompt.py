"""How much of a prompt its longest stall was worth, by the length of the prompt."""

import altair as alt
import polars as pl

from analysis.charts.frames import Frame, ordered, shorten, thinned, tidy
from analysis.charts.marks import shaped
from analysis.charts.theme import INK, finish


def block_by_prompt(frame: Frame, *, title: str, subtitle: str, description: str) -> alt.LayerChart:
    """A point a turn: prompt tokens of its longest stall over the longest prompt; on the thin line they are equal.

    Columns run, prompt_tokens, block_tokens. Points on the line: one block, whatever the length. Points that stay at
    one height: blocks of that size. Of very many turns one in so many is drawn.
    """
    rows = shorten(tidy(frame, "run", "prompt_tokens", "block_tokens"), "run")
    rows, note = thinned(rows, "run", "prompt_tokens")
    top = max(rows["prompt_tokens"].drop_nulls().to_list(), default=1.0) * 1.05
    scale = alt.Scale(domain=[0, top], nice=False)
    line = alt.Chart(pl.DataFrame({"prompt_tokens": [0.0, top], "block_tokens": [0.0, top]})).mark_line(
        color=INK, opacity=0.4, strokeWidth=1.5, aria=False
    )
    x = alt.X("prompt_tokens:Q", title="prompt tokens", scale=scale)
    y = alt.Y("block_tokens:Q", title="tokens of the longest stall", scale=scale)
    points = shaped(alt.Chart(rows).mark_point(filled=True), ordered(rows, "run"), "run")
    return finish(alt.layer(line.encode(x=x, y=y), points.encode(x=x, y=y)), title, subtitle + note, description)
