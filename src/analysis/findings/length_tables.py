"""Sentences, tables and text alternatives of "by prompt length": laid out from estimates, nothing computed anew."""

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.estimate import Estimate
from analysis.estimates.length_line import AtLength
from analysis.estimates.rounding import show, show_number, show_value
from analysis.findings.lengths import DECODE, PREFILL, SHARE, Lengths, at_length
from analysis.findings.time_tables import PANELS, run_of

PHASES = {PREFILL: "prefill", DECODE: "decode"}


def bins_table(bins: list[Estimate]) -> pl.DataFrame:
    """One row a run and group of prompts: how many requests, mean seconds of prefill and decode, prefill share."""
    rows: dict[tuple[str, str], dict[str, str | Estimate]] = {}
    names = {PREFILL: "prefill", DECODE: "decode", SHARE: "prefill share"}
    for e in bins:
        run, prompt = run_of(e), e.qualifiers["prompt_tokens"]
        row = rows.setdefault((run, prompt), {"run": run, "prompt tokens": prompt})
        row[names[e.id]] = e
        row["n"] = f"{e.n} {e.n_of}"
    schema = dict.fromkeys(("run", "prompt tokens", *names.values(), "n"), pl.String)
    return cells.frame(rows.values(), schema)


def drawn(bins: list[Estimate]) -> pl.DataFrame:
    """One row a run, group of prompts and phase, for the chart: the middle of the group's lengths, seconds, interval.

    At most PANELS runs, those with most groups.
    """
    rows = []
    for e in bins:
        if e.id in PHASES and e.value is not None:
            ends = [float(text) for text in e.qualifiers["prompt_tokens"].split(" to ")]
            rows.append((run_of(e), PHASES[e.id], (ends[0] * ends[-1]) ** 0.5, *cells.ends(e).values()))
    floats = dict.fromkeys(("tokens", "value", "low", "high"), pl.Float64)
    frame = cells.frame(rows, {"group": pl.String, "phase": pl.String, **floats})
    most = frame.group_by("group").len().sort("len", "group", descending=[True, False]).head(PANELS)["group"]
    return frame.filter(pl.col("group").is_in(most.to_list()))


def describe(bins: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart by length."""
    shares = [e for e in bins if e.id == SHARE and e.value is not None]
    known = [e for e in shares if e.low is not None]
    seconds = [e for e in bins if e.id in PHASES and e.value is not None]
    runs = len({run_of(e) for e in shares})
    left_out = f"; {PANELS} of {runs} runs" if runs > PANELS else ""
    ends = sorted(known or shares, key=lambda e: e.value or 0)
    title = "No request has a prompt length, times and an answer"
    if ends:
        title = (
            f"Prefill is {show_value(ends[0])} to {show_value(ends[-1])} of a request's time, by prompt length and run"
        )
    return {
        "title": title,
        "subtitle": "mean seconds by prompt length, as clients saw them (prefill with queue and network); rule: 95 % "
        f"interval; both axes logarithmic{left_out}",
        "description": "Mean seconds by run and prompt length. "
        + (
            "; ".join(
                f"{run_of(e)}, {e.qualifiers['prompt_tokens']} tokens, {PHASES[e.id]}: {show(e)}" for e in seconds
            )
            or "No data."
        ),
    }


def asked(connection: duckdb.DuckDBPyConnection, found: list[Lengths]) -> list[AtLength]:
    """What is answered for each run that has a line: its longest recorded prompt, and the longest that its boot takes.

    The answer is as long as the median one.
    """
    limits = dict(connection.sql("select boot, max_model_len_tokens from boots order by boot").fetchall())
    answers = []
    for each in found:
        fit = each.engine if isinstance(each.clients, str) else each.clients
        if isinstance(fit, str):
            continue
        output = round(max(fit.answer, 1.0))
        limit = limits.get(each.qualifiers.get("boot")) or 0
        asked = {round(fit.longest), *([limit - output] if limit - output > fit.longest else [])}
        answers += [at_length(each, prompt, output) for prompt in sorted(asked)]
    return answers


def at_table(answers: list[AtLength]) -> pl.DataFrame:
    """One row a run and request asked about: its lengths, seconds of prefill and decode, share, and what to know."""
    rows = []
    for answer in answers:
        prefill = answer.prefill
        beyond = any(w.startswith("extrapolated") for w in prefill.warnings)
        rows.append((
            run_of(prefill),
            *(show_number(float(prefill.qualifiers[key]), "") for key in ("prompt_tokens", "output_tokens")),
            *answer,
            "extrapolated: no such prompt was recorded" if beyond else "within the recorded prompts",
        ))  # fmt: skip
    names = ("run", "prompt tokens", "output tokens", "prefill", "decode", "prefill share", "what it is")
    return cells.frame(rows, dict.fromkeys(names, pl.String))


def sentence(answers: list[AtLength]) -> str:
    """How long the longest recorded prompt takes, and the share of prefill in that; empty where no line says it."""
    inside = [
        a
        for a in answers
        if a.share.low is not None and not any(w.startswith("extrapolated") for w in a.share.warnings)
    ]
    if not inside:
        return ""
    longest = max(inside, key=lambda a: float(a.share.qualifiers["prompt_tokens"]))
    lengths = longest.share.qualifiers
    return (
        f"In {run_of(longest.share)} a prompt of {float(lengths['prompt_tokens']):,.0f} tokens with an answer of "
        f"{float(lengths['output_tokens']):,.0f} takes {show(longest.prefill)} to its first token and "
        f"{show(longest.decode)} from there, as clients see it: prefill is {show(longest.share)}."
    )
