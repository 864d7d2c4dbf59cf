"""The sentences of "whose turn it is": the answer, what to do about it, what would change it."""

import numpy as np

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.estimates.turns import LEAST_TURNS
from analysis.findings.whose_turn import BLOCK, Run

TOLD = ("one_block", "interleaved")
LONGER = 4
"""Test prompts should be so many times as long as the block that is asked about."""
VERDICTS = {
    "one_block": "a long prompt runs as one block, and every stream stands still until it is done",
    "interleaved": "a long prompt is cut into blocks that take turns with decode",
    "no_stall": "no stream stands still while a long prompt is processed",
}
NOTHING = "Whose turn it is cannot be said: no request record has the arrivals of its tokens."
TARGET_S = 0.5
"""A silence that a reader of a chat notices; for the arithmetic of the next step, and named there."""


def sentence(found: list[Run]) -> str:
    """The answer: how long prompts run, by verdict."""
    if not found:
        return NOTHING
    parts = []
    for verdict, words in VERDICTS.items():
        if names := [f"{run.name}{size(run)}" for run in found if run.verdict.verdict == verdict]:
            parts.append(f"in {_listed(names)} {words}")
    untold = [run for run in found if run.verdict.verdict == "cannot_tell"]
    if not parts:
        return f"Whose turn it is cannot be told: {'; '.join(f'{run.name}: {run.verdict.why}' for run in untold)}."
    rest = f" It cannot be told for {_listed([run.name for run in untold])}." if untold else ""
    return f"I{'; '.join(parts)[1:]}.{rest}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def size(run: Run) -> str:
    """The block size of a run in brackets, with a space before it; empty where nothing is known of it."""
    block = run.of(BLOCK)
    if block.value is None:
        return ""
    if run.verdict.verdict == "one_block":
        return f" (up to {show_number(block.value, 'tokens')})"
    return f" (about {show(block)})"


def in_words(run: Run) -> str:
    """The verdict on one run, as a table has it."""
    block = run.of(BLOCK)
    if run.verdict.verdict == "one_block" and block.value is not None:
        return f"prompts up to {show_number(block.value, 'tokens')} run as one block"
    if run.verdict.verdict == "interleaved":
        return f"interleaved in blocks of about {show_number(block.value, 'tokens')}"
    return "no stall seen" if run.verdict.verdict == "no_stall" else f"cannot tell: {run.verdict.why}"


def longest_stall(run: Run) -> float | None:
    """The longest silence of a turn that can be used (s)."""
    return max((t.longest_gap_s for t in run.verdict.usable), default=None)


def next_step(found: list[Run]) -> str:
    """What to do: the block that holds streams up half a second at most; or how to measure so that it can be told."""
    told = [r for r in found if r.verdict.verdict in TOLD]
    worst = max(told, key=lambda r: longest_stall(r) or 0, default=None)
    if worst is None:
        if any(r.verdict.verdict == "no_stall" for r in found):
            return "Nothing: chats do not feel long prompts here."
        return _measure(found)
    stall, rate = longest_stall(worst) or 0.0, _seconds_per_token(worst)
    seen = f"The longest silence was {show_number(stall, 's', digits=2)} ({worst.name})."
    if stall <= TARGET_S or not rate:
        return f"{seen} Keep the setting, or raise it if long prompts wait too long."
    tokens = show_number(TARGET_S / rate, "tokens", digits=2)
    return (
        f"{seen} For silences of {show_number(TARGET_S, 's', digits=1)} a step may hold about {tokens} of prompts "
        "(max_num_batched_tokens in vLLM, --batch-size in llama.cpp); long prompts then take longer."
    )


def _seconds_per_token(run: Run) -> float | None:
    rates = [t.excess_s.sum() / sum(t.prompts) for t in run.verdict.usable if len(t.excess_s)]
    return float(np.median(rates)) if rates else None


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
