"""Tables of "whose turn it is": laid out, nothing computed anew."""

from collections import Counter

import polars as pl

from analysis.estimates import cells
from analysis.findings.turn_words import in_words, silence
from analysis.findings.whose_turn import BLOCK, DOSE, OVERTAKING, SHARE, Run


def verdicts(found: list[Run]) -> pl.DataFrame:
    """One row a run: the verdict in words and the figures behind it."""
    rows = [
        {
            "run": run.name, "verdict": in_words(run), "turns used": len(run.verdict.usable),
            "turns seen": len(run.turns), "S (stall share)": run.of(SHARE),
            "longest silence": silence(run),
            "p": None if run.verdict.chance is None else float(f"{run.verdict.chance:.2g}"),
        }
        for run in found
    ]  # fmt: skip
    texts = dict.fromkeys(("run", "verdict"), pl.String) | dict.fromkeys(("turns used", "turns seen"), pl.Int64)
    return cells.frame(rows, texts | {"S (stall share)": pl.String, "longest silence": pl.String, "p": pl.Float64})


def cross_checks(found: list[Run]) -> pl.DataFrame:
    """One row a run: placebo windows, the slope of the stall on the turn, overtaking, and the turns left out."""
    rows = [
        {
            "run": run.name,
            "placebo stalls": "no time without a long prompt" if run.placebo is None
            else f"{run.placebo[0]} of {run.placebo[1]}",
            "slope": run.of(DOSE), "overtaking": run.of(OVERTAKING),
            "left out": "; ".join(f"{n}: {why}" for why, n in left_out(run).items()),
        }
        for run in found
    ]  # fmt: skip
    return cells.frame(rows, dict.fromkeys(("run", "placebo stalls", "slope", "overtaking", "left out"), pl.String))


def left_out(run: Run) -> Counter[str]:
    """How many turns cannot be used, by reason."""
    return Counter(t.problem for t in run.turns if t.problem)


def score(found: list[Run]) -> pl.DataFrame:
    """One row a run: what was inferred from outside, what the engine itself says, and whether they agree."""
    rows = [
        {
            "run": run.name, "from outside": in_words(run), "block": run.of(BLOCK),
            "largest step logged": run.largest_step, "most tokens of a step, as set": run.budget,
            "agrees": agreement(run),
        }
        for run in found
    ]  # fmt: skip
    texts = dict.fromkeys(("run", "from outside", "block"), pl.String)
    numbers = dict.fromkeys(("largest step logged", "most tokens of a step, as set"), pl.Int64)
    return cells.frame(rows, texts | numbers | {"agrees": pl.String})


def agreement(run: Run) -> str:
    """Whether the inference agrees with the step log, else with the setting: yes, no, or why it cannot be said."""
    block, truth = run.of(BLOCK), run.largest_step or run.budget
    if truth is None:
        return "the engine does not say"
    if block.value is None or block.low is None or block.high is None:
        return "nothing was inferred"
    source = "its step log" if run.largest_step else "its setting"
    return f"{'yes' if block.low <= truth <= block.high else 'no'}, with {source}"
