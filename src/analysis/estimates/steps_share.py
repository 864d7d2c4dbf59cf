"""Assumption: none that one page can test. The share of engine steps with few tokens, and what its metric omits."""

from math import ceil
from typing import NamedTuple

import numpy as np

from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.share_edge import wilson

STEPS_PER_CLAIM = 4
"""The rough scale takes a quarter of the requests as independent: a guess, too narrow where requests live long."""


class StepsShare(NamedTuple):
    """The share of the steps recorded, of the service, and of the steps that really ran."""

    census: Estimate
    estimate: Estimate
    bound: Estimate


def steps_share_at_most(
    steps: Buckets, limit: float, requests: int, lengths: Buckets | None = None, budget_tokens: float | None = None
) -> StepsShare:
    """The share of steps with at most `limit` tokens from one page of iteration_tokens_total.

    Steps are serially dependent (design effects of hundreds), so one page gives no interval, only a rough scale.
    `lengths` (histogram of uncached prompt lengths) and `budget_tokens` (max_num_batched_tokens) give the range that
    unrecorded middle chunks of prompts leave. `limit` must be an edge.
    """
    why = steps.problem() or ("no steps" if steps.n == 0 else None)
    at = np.flatnonzero(np.isclose(steps.upper, limit, rtol=1e-12)) if why is None else np.zeros(0, int)
    if why is None and not len(at):
        why = f"{limit:g} is not a bucket edge"
    if why is not None:
        refused = no_interval(None, "1", "none", why)
        return StepsShare(refused, refused, refused)
    small, n = float(steps.counts[: int(at[0]) + 1].sum()), steps.n
    value, method = small / n, "share of recorded steps"
    notes = _misbooked(steps, budget_tokens)
    census = Estimate(value, "1", "census", method, n=n, n_of="steps", assumption="recorded steps only", warnings=notes)
    rough = wilson(value, requests / STEPS_PER_CLAIM) if requests >= STEPS_PER_CLAIM else None
    estimate = Estimate(
        value, "1", "estimate", method, n=requests, n_of="requests",
        reason="one dump, iterations are serially dependent",
        warnings=(*notes, "the rough scale is a guess: it covered 72 to 99 % in simulations") if rough else notes,
        sensitivity={"rough, serial dependence guessed (n = requests / 4)": rough} if rough else {},
    )  # fmt: skip
    return StepsShare(census, estimate, _middle_range(small, n, lengths, budget_tokens, notes))


def middle_chunks_most(lengths: Buckets, budget_tokens: float) -> int:
    """The most middle chunks the prompts can have made: sum of ceil(L / budget) - 1 at the tops of their buckets.

    The exact sum of lengths limits it too: ceil(L / B) - 1 < L / B for each prompt.
    """
    filled = lengths.counts > 0
    tops = np.ceil(lengths.upper[filled] / budget_tokens) - 1
    by_tops = float((lengths.counts[filled] * np.maximum(tops, 0)).sum())
    return int(min(by_tops, ceil(lengths.total / budget_tokens)))


def _middle_range(
    small: float, n: int, lengths: Buckets | None, budget: float | None, notes: tuple[str, ...]
) -> Estimate:
    method = "recorded steps less the most middle chunks"
    if lengths is None or budget is None or not budget > 0 or lengths.problem() is not None:
        return no_interval(None, "1", method, "prompt lengths or the batch token budget are not known", warnings=notes)
    most = middle_chunks_most(lengths, budget)
    if most == 0:
        return Estimate(small / n, "1", "identity", method, n=n, n_of="steps", assumption="no prompt was chunked")
    # m1 middle chunks hid in small steps, m2 were not recorded: (small - m1)/(n + m2) with m1 + m2 <= most.
    return Estimate(
        None, "1", "bound", method, max(small - most, 0.0) / n, small / n, None, n, "steps",
        "middle chunks of prompts are booked to another step or not at all", "no point: chunks are not recorded", notes,
    )  # fmt: skip


def _misbooked(steps: Buckets, budget: float | None) -> tuple[str, ...]:
    if budget is None or not budget > 0:
        return ()
    above = round(float(steps.counts[steps.lower >= budget].sum()))
    if not above:
        return ()
    return (f"{above} recorded steps exceed max_num_batched_tokens: whole prompts are booked to their last step",)
