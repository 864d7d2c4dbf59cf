"""The sentences of "whose turn it is": the answer, what to do about it, what would change it."""

import numpy as np

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number, show_value
from analysis.estimates.turns import LEAST_TURNS
from analysis.findings.whose_turn import BLOCK, Run
from analysis.findings.words import MOST, listed

TOLD = ("one_block", "interleaved")
LONGER = 4
"""Test prompts should be so many times as long as the block that is asked about."""
VERDICTS = {
    "one_block": "a long prompt was not cut, and every stream stood still until it was done",
    "interleaved": "a long prompt is cut into blocks that take turns with decode",
    "no_stall": "no stream stands still while a long prompt is processed",
}
NOTHING = "Whose turn it is cannot be said: no request record has the arrivals of its tokens."
TARGET_S = 0.5
"""A silence that a reader of a chat notices; shorter ones call for nothing."""


def sentence(found: list[Run]) -> str:
    """The answer: how long prompts run, by verdict."""
    if not found:
        return NOTHING
    parts = []
    for verdict, words in VERDICTS.items():
        if of := [run for run in found if run.verdict.verdict == verdict]:
            parts.append(f"In {_each(of)} {words}.")
    untold = [run for run in found if run.verdict.verdict == "cannot_tell"]
    if not parts:
        return f"Whose turn it is cannot be told: {'; '.join(f'{run.name}: {run.verdict.why}' for run in untold)}."
    rest = f" It cannot be told for {listed([run.name for run in untold])}." if untold else ""
    return f"{' '.join(parts)}{_same_limit(found)}{rest}"


def _same_limit(found: list[Run]) -> str:
    """A sentence where runs of one limit have two verdicts: the prompts differ then, not the engines."""
    said = []
    for run in found:
        alike = [r.name for r in found if r.verdict.verdict == "interleaved" and r.budget == run.budget]
        if _uncut_by_limit(run) and alike:
            said.append(f" {run.name} has the limit of {listed(alike)}: its prompts were only shorter than a step.")
    return "".join(said)


def _uncut_by_limit(run: Run) -> bool:
    """Whether the step of a run holds its longest prompt by its boot log, so that none could be cut."""
    longest = run.of(BLOCK).value
    return run.verdict.verdict == "one_block" and None not in (longest, run.budget) and longest <= run.budget  # type: ignore[operator]


def _each(of: list[Run]) -> str:
    """Runs with their sizes; of many how many they are, with the smallest and the largest size."""
    if len(of) <= MOST:
        return listed([f"{run.name}{size(run)}" for run in of])
    sizes = sorted((run for run in of if run.of(BLOCK).value is not None), key=lambda run: run.of(BLOCK).value or 0)
    ends = dict.fromkeys(f"{run.name}{size(run)}" for run in (*sizes[:1], *sizes[-1:]))
    return f"{len(of)} runs, {' to '.join(ends)}," if ends else f"{len(of)} runs"


def size(run: Run) -> str:
    """The block size of a run in brackets, with a space before it; empty where nothing is known of it."""
    block = run.of(BLOCK)
    if block.value is None:
        return ""
    if run.verdict.verdict == "one_block":
        limit = f"; a step may hold {run.budget:,}, so it would not cut them" if _uncut_by_limit(run) else ""
        return f" (prompts of up to {show_value(block)}{limit})"
    return f" (about {show(block)})"


def in_words(run: Run) -> str:
    """The verdict on one run, as a table has it."""
    block = run.of(BLOCK)
    if run.verdict.verdict == "one_block" and block.value is not None:
        return f"prompts up to {show_value(block)} run as one block"
    if run.verdict.verdict == "interleaved":
        return f"interleaved in blocks of about {show_value(block)}"
    return "no stall seen" if run.verdict.verdict == "no_stall" else f"cannot tell: {run.verdict.why}"


def longest_stall(run: Run) -> float | None:
    """The longest silence of a turn that can be used (s)."""
    return max((t.longest_gap_s for t in run.verdict.usable), default=None)


def silence(run: Run) -> str:
    """The longest silence of a turn that can be used, as a reader is told it."""
    return show_number(longest_stall(run), "s")


def next_step(found: list[Run]) -> str:
    """What was seen with each size of step, and what to set; or how to measure so that it can be told.

    No size of step is computed for a wanted silence: a step's time holds its decodes and varies about its median.
    """
    told = [r for r in found if r.verdict.verdict in TOLD and longest_stall(r)]
    if not told:
        if any(r.verdict.verdict == "no_stall" for r in found):
            return "Nothing: chats do not feel long prompts here."
        return _measure(found)
    told.sort(key=lambda r: longest_stall(r) or 0)
    told = [told[0], told[-1]] if len(told) > 1 else told
    seen = "; ".join(_seen(run) for run in told)
    if (longest_stall(told[-1]) or 0) <= TARGET_S:
        return f"Seen: {seen}. Keep the setting, or raise it if long prompts wait too long."
    return (
        "For shorter silences set smaller steps (max_num_batched_tokens in vLLM, --batch-size in llama.cpp) and "
        f"measure again. Seen: {seen}{_waits(told)}."
    )


def _seen(run: Run) -> str:
    block, longest = run.of(BLOCK), silence(run)
    if run.verdict.verdict == "one_block":
        return f"prompts of up to {show_value(block)} in one block, silences up to {longest} ({run.name})"
    size = f"{run.budget:,} tokens" if run.budget else f"about {show_value(block)}"
    return f"steps of {size}, silences up to {longest} ({run.name})"


def _waits(told: list[Run]) -> str:
    """Beside it, what long prompts waited for their first token: smaller steps need not make that shorter."""
    waits = [
        (run.name, float(np.median([t.end_s - t.start_s for t in lone])), len(lone))
        for run in told if (lone := [t for t in run.verdict.usable if len(t.prompts) == 1])
    ]  # fmt: skip
    said = ", ".join(f"{show_number(s, 's')} in {name} (median of {n})" for name, s, n in waits)
    return f". Long prompts, not all of one length, waited for their first token {said}" if said else ""


def _measure(found: list[Run]) -> str:
    longest = max((max(t.prompts) for r in found for t in r.verdict.usable), default=None)
    length = f"of {show_number(LONGER * longest, 'tokens', digits=2)} or more " if longest else ""
    return (
        f"Send {LEAST_TURNS} long prompts or more {length}one at a time, beside two streaming chats, "
        "with half a minute of chats alone before it: make trace does."
    )


def unless(found: list[Run]) -> str:
    """What would change the answer."""
    if not found:
        return ""
    lone = [
        f"in {r.name}, {r.placebo[0]} of {r.placebo[1]} spells without a long prompt stall as well"
        for r in found if r.placebo and r.placebo[0] and r.verdict.verdict in TOLD
    ]  # fmt: skip
    return "; ".join(["long prompts come from the prefix cache, or several engines serve one address", *lone[:1]])


def headline(found: list[Run]) -> list[Estimate]:
    """The figures that the answer rests on: the block size of each run that has one; else the first that is missing."""
    blocks = [run.of(BLOCK) for run in found]
    return [b for b in blocks if b.value is not None] or blocks[:1]
