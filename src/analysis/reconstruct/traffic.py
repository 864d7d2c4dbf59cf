"""Requests that add up to given sums: spread as assumed, in a fixed order, in whole milliseconds and tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, pi, sin, sqrt
from statistics import NormalDist

from analysis.reconstruct.figures import Figures

WINDOWS = 24
BURST_WINDOW = 11
"""The scrape interval in which prompts waited for nothing."""
LONG_AT = 17
"""Which request is the one whose times were published."""


@dataclass(frozen=True, slots=True)
class Request:
    """One finished request: which scrape interval it ended in, its prompt and its times."""

    window: int
    prompt_tokens: int
    prefill_ms: int
    decode_ms: int


def requests(figures: Figures) -> list[Request]:
    """The requests in the order in which they ended: their sums are the published ones."""
    n = figures.count("requests")
    window = [at * WINDOWS // n for at in range(n)]
    tokens = figures.count("load_tokens_per_s") * figures.count("wall_s")
    prompt_weights = spread(n, figures["prompt_cv"], 151)
    prompts = to_total(prompt_weights, tokens, {LONG_AT: figures.count("long_prompt_tokens")})
    prefill_ms = round(1000 * tokens / figures["mean_rate_tokens_per_s"])
    prefill = _prefill(figures, prompts, window, prefill_ms)
    share = figures["prefill_share"]
    drift = [exp(figures["drift"] * sin(2 * pi * at / n)) for at in range(n)]
    weights = [w * d for w, d in zip(spread(n, figures["decode_cv"], 233), drift, strict=True)]
    long_decode = {LONG_AT: 1000 * figures.count("long_decode_s")}
    decode = to_total(weights, round(prefill_ms * (1 - share) / share), long_decode)
    return [Request(*row) for row in zip(window, prompts, prefill, decode, strict=True)]


def _prefill(figures: Figures, prompts: Sequence[int], window: Sequence[int], total_ms: int) -> list[int]:
    """Milliseconds of prefill: what the burst rate takes, and waiting on top of it, which a burst has none of."""
    bare = [round(1000 * tokens / figures["burst_tokens_per_s"]) for tokens in prompts]
    fixed = {at: bare[at] for at, place in enumerate(window) if place == BURST_WINDOW}
    fixed[LONG_AT] = 1000 * figures.count("long_prefill_s")
    waits = [tokens * w for tokens, w in zip(prompts, spread(len(prompts), figures["wait_cv"], 89), strict=True)]
    rest = {at: fixed[at] - bare[at] for at in fixed}
    return [b + w for b, w in zip(bare, to_total(waits, total_ms - sum(bare), rest), strict=True)]


def spread(n: int, cv: float, step: int) -> list[float]:
    """`n` values of a log-normal law with this coefficient of variation, mixed by a fixed step (n is prime to it)."""
    sigma = sqrt(log(1 + cv * cv))
    law = NormalDist()
    return [exp(sigma * law.inv_cdf((at * step % n + 0.5) / n)) for at in range(n)]


def to_total(weights: Sequence[float], total: int, fixed: Mapping[int, int] | None = None) -> list[int]:
    """Whole numbers in proportion to the weights, with some of them fixed, that add up to the total exactly."""
    given = fixed or {}
    left = total - sum(given.values())
    free = [at for at in range(len(weights)) if at not in given]
    scale = left / sum(weights[at] for at in free)
    found = [given[at] if at in given else int(weights[at] * scale) for at in range(len(weights))]
    short = total - sum(found)
    for at in sorted(free, key=lambda at: (int(weights[at] * scale) - weights[at] * scale, at))[:short]:
        found[at] += 1
    return found
