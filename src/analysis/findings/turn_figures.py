"""Frames, titles and text alternatives of the figures of "whose turn it is"."""

import duckdb
import numpy as np
import polars as pl

from analysis.estimates.inputs import Floats
from analysis.estimates.rounding import show_number
from analysis.estimates.stalls import Turn
from analysis.findings.turn_words import in_words
from analysis.findings.whose_turn import Record, Run

STREAMS = 4
"""Streams of a run that are drawn."""
GAPS = 1500
"""Most silences of a turn that is drawn, where there is a choice: each tick is an element of the page."""
DRAWN = ("one_block", "interleaved", "no_stall", "cannot_tell")


def blocks(found: list[Run]) -> pl.DataFrame:
    """One row a usable turn with a stall: its longest prompt, and the prompt tokens of its longest stall."""
    rows = [
        (run.name, max(t.prompts), min(float(t.worth.max()), max(t.prompts)), len(t.prompts), len(t.excess_s))
        for run in found for t in run.verdict.usable if len(t.excess_s)
    ]  # fmt: skip
    schema = {"run": pl.String, "prompt_tokens": pl.Float64, "block_tokens": pl.Float64, "prompts": pl.Int64}
    return pl.DataFrame(rows, schema | {"stalls": pl.Int64}, orient="row")


def describe_blocks(found: list[Run]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of blocks."""
    said = [f"{r.name}: {in_words(r)}" for r in found]
    one, cut = (sum(r.verdict.verdict == v for r in found) for v in ("one_block", "interleaved"))
    title = "No long prompt made the streams stand still"
    if one or cut:
        title = f"The longest stall grows with the prompt in {one} of {one + cut} runs, and stops at a block in {cut}"
    return {
        "title": title,
        "subtitle": "prompt tokens of a turn's longest stall by prompt length; on the line, the prompt was one block",
        "description": "Longest stall by prompt length. " + ("; ".join(said) or "No run."),
    }


def example(found: list[Run]) -> list[tuple[Run, Record, Turn]]:
    """The turns to draw: of the first run with each verdict, the lone turn that stalls with the longest prompt."""
    chosen: dict[str, tuple[Run, Record, Turn]] = {}
    for run in found:
        turns = [(r, t) for r in run.records for t in r.usable]
        lone = [(r, t) for r, t in turns if len(t.prompts) == 1] or turns
        if lone and run.verdict.verdict not in chosen:
            drawable = [(r, t) for r, t in lone if t.gaps <= GAPS] or [min(lone, key=lambda rt: rt[1].gaps)]
            record, turn = _most_telling(drawable)
            chosen[run.verdict.verdict] = run, record, turn
    order = [chosen[v] for v in DRAWN if v in chosen]
    return [e for e in order if e[0].verdict.verdict != "cannot_tell"] or order


def _most_telling(turns: list[tuple[Record, Turn]]) -> tuple[Record, Turn]:
    """Turns with a stall first, then those that two streams saw from beginning to end, then those of long prompts."""
    spans = {of: _spans(record) for of, record in {id(record): record for record, _ in turns}.items()}

    def worth(of: tuple[Record, Turn]) -> tuple[bool, int, float]:
        record, turn = of
        first, last = spans[id(record)]
        saw = int(((first < turn.start_s) & (last > turn.end_s)).sum())
        return len(turn.excess_s) > 0, min(saw, 2), max(turn.prompts)

    return max(turns, key=worth)


def _spans(record: Record) -> tuple[Floats, Floats]:
    """The first and the last arrival of each stream that has any."""
    there = [a for a in record.requests.arrivals if len(a)]
    return np.array([a[0] for a in there]), np.array([a[-1] for a in there])


def arrivals(chosen: list[tuple[Run, Record, Turn]]) -> pl.DataFrame:
    """One row a token, turn or stall: run, row (its stream), kind, start and end in s from the sending."""
    rows: list[tuple[str, str, str, float, float]] = []
    for run, record, turn in chosen:
        reach = 0.35 * (turn.end_s - turn.start_s)
        low, high = turn.start_s - reach, turn.end_s + reach
        inside = [a[(a >= low) & (a <= high)] for a in record.requests.arrivals]
        own = record.requests.is_long & (record.requests.sent_s >= turn.start_s)
        alive = [i for i, a in enumerate(inside) if len(a) and not own[i]]
        # Those there longest come first; in the order of time among the ones that are drawn.
        longest = sorted(alive, key=lambda i: inside[i][0] - inside[i][-1])[:STREAMS]
        rows.append((run.name, "long prompt", "turn", 0.0, turn.end_s - turn.start_s))
        ends = zip(turn.stall_start_s, turn.stall_end_s, strict=True)
        rows += [(run.name, "", "stall", float(a - turn.start_s), float(b - turn.start_s)) for a, b in ends]
        for number, i in enumerate(sorted(longest), start=1):
            at = [float(x - turn.start_s) for x in inside[i]]
            rows += [(run.name, f"stream {number}", "token", x, x) for x in at]
    texts = dict.fromkeys(("run", "row", "kind"), pl.String)
    return pl.DataFrame(rows, texts | {"start_s": pl.Float64, "end_s": pl.Float64}, orient="row")


def describe_arrivals(chosen: list[tuple[Run, Record, Turn]]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of arrivals."""
    said = [
        f"{run.name}: a prompt of {show_number(max(t.prompts), 'tokens')} waited "
        f"{show_number(t.end_s - t.start_s, 's')} for its first token; "
        f"meanwhile the others stood still {_times(len(t.excess_s))}, at most {show_number(t.longest_gap_s, 's')}"
        for run, _, t in chosen
    ]  # fmt: skip
    title = "No turn of a long prompt can be shown"
    if chosen:
        title = "While a long prompt has its turn, others stand still: " + ", ".join(
            f"{_times(len(t.excess_s))} in {run.name} (at most {show_number(t.longest_gap_s, 's')})"
            for run, _, t in chosen
        )
    return {
        "title": title,
        "subtitle": "tick: a token that arrived; bar: from sending a long prompt to its first token; shaded: a stall",
        "description": "Arrivals around one long prompt. " + ("; ".join(said) or "None could be used."),
    }


def _times(n: int) -> str:
    return "not once" if n == 0 else "once" if n == 1 else f"{n} times"


def steps(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row an engine step around the largest prompt of each boot that logs them."""
    query = "select boot as run, kind, prompt_tokens, start_s, end_s from step_excerpts order by boot, n"
    return connection.sql(query).pl()


def describe_steps(table: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of steps."""
    said = []
    for run in table["run"].unique(maintain_order=True):
        part = table.filter(pl.col("run") == run)
        held = part.filter(pl.col("prompt_tokens") > 0)
        tokens, longest = held.select(pl.max("prompt_tokens"), (pl.col("end_s") - pl.col("start_s")).max()).row(0)
        number = "one step" if held.height == 1 else f"{held.height} steps"
        said.append(f"{run}: {number} with a prompt, up to {tokens:,} tokens and {show_number(longest, 's')}")
    return {
        "title": "By the engine's own log: " + "; ".join(said) if said else "No engine logged its steps",
        "subtitle": "each box is one engine step around the largest prompt, as wide as it took"
        if said
        else "vLLM logs each step with --enable-logging-iteration-details",
        "description": "Engine steps around the largest prompt of each run. " + ("; ".join(said) or "No step log."),
    }
