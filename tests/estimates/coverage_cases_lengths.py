"""What lines on lengths, and shares of step time, are held to: a simulated truth and the library's own call."""

from collections.abc import Iterator

import numpy as np
from coverage_cases import Case, Draw, Interval, ends
from simulated_traffic import ar1

from analysis.estimates.length_line import LengthFit, at_length, of_requests, slope_rate
from analysis.estimates.step_time import held_share, step_share

FIXED_S, PER_TOKEN_S, PER_OUTPUT_S = 0.4, 1e-3, 0.1
ASKED, ANSWER = 3000, 65
BLOCKS = 10


def _requests(rng: np.random.Generator, n: int, load: float) -> tuple[np.ndarray, ...]:
    """Lengths and seconds of n requests in time; `load` is how far a slowdown that neighbours share moves the log."""
    document = rng.random(n) < 0.35
    prompt = np.where(document, rng.uniform(2000, 6000, n), rng.uniform(100, 300, n)).round()
    output = rng.integers(8, 120, n).astype(float)
    slow = np.exp(load * ar1(rng, n, 0.7) - load**2 / 2)
    noise = np.exp(0.3 * rng.standard_normal((2, n)) - 0.045)
    prefill = (FIXED_S + PER_TOKEN_S * prompt) * slow * noise[0]
    return prompt, output, prefill, (output - 1) * PER_OUTPUT_S * slow * noise[1]


def _line(n: int, load: float, which: str, naive: bool = False) -> Draw:
    prefill, decode = FIXED_S + PER_TOKEN_S * ASKED, (ANSWER - 1) * PER_OUTPUT_S
    truths = {"prefill": prefill, "decode": decode, "share": prefill / (prefill + decode), "slope": 1 / PER_TOKEN_S}

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        prompt, output, x, y = _requests(rng, n, load)
        if naive:
            design = np.column_stack((np.ones(n), prompt))
            (fixed, slope), rest, *_ = np.linalg.lstsq(design, x, rcond=None)
            row = np.array([1.0, ASKED])
            half = 1.96 * np.sqrt(rest[0] / (n - 2) * row @ np.linalg.inv(design.T @ design) @ row)
            return (fixed + slope * ASKED - half, fixed + slope * ASKED + half), prefill
        fit = of_requests(prompt, output, x, y, np.arange(n) * BLOCKS // n)
        if not isinstance(fit, LengthFit):
            return None, truths[which]
        got = slope_rate(fit) if which == "slope" else getattr(at_length(fit, ASKED, ANSWER), which)
        return ends(got), truths[which]

    return draw


def length_cases() -> Iterator[Case]:
    """Seconds at a length, and the slope, from requests whose neighbours share a slowdown."""
    for n, load in ((40, 0.0), (80, 0.4), (400, 0.4)):
        situation = f"n = {n}, " + ("independent" if not load else "neighbours share a slowdown")
        for which in ("prefill", "decode", "share", "slope"):
            yield Case(f"line on lengths, {which}", situation, 0.88, 0.99, _line(n, load, which),
                       reps=150 if n < 400 else 0, long_reps=1000)  # fmt: skip
    yield Case("least squares, independent (naive)", "n = 400, neighbours share a slowdown", 0.0, 0.89,
               _line(400, 0.4, "prefill", naive=True), reps=200, naive=True)  # fmt: skip


DECODE_S = {1: 0.10, 2: 0.12, 3: 0.14}
PROMPT_S, SWING = 0.5, 1.0


def _steps(count: int, correlation: float, which: str) -> Draw:
    """Steps whose chance to carry a prompt drifts; 1 to 3 requests decode in each, or none where a prompt is alone."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    swing = SWING if correlation else 0.0
    mixed = float((weights / (1 + np.exp(1.7 - swing * nodes))).sum() / weights.sum())
    decode, requests = np.mean(list(DECODE_S.values())), 2.0
    prefill = mixed * PROMPT_S
    share = prefill / (prefill + decode)
    seconds = mixed * ((PROMPT_S + decode) + PROMPT_S * requests)
    whole = np.mean([n * (d + mixed * PROMPT_S) for n, d in DECODE_S.items()]) + mixed * (PROMPT_S + decode)
    truth = share if which == "step" else seconds / whole

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        drift = ar1(rng, count, correlation) if correlation else np.zeros(count)
        context = (rng.random(count) < 1 / (1 + np.exp(1.7 - swing * drift))).astype(float)
        generation = rng.integers(1, 4, count).astype(float)
        alone = np.array([DECODE_S[int(n)] for n in generation])
        elapsed = (alone + PROMPT_S * context) * (1 + 0.02 * rng.standard_normal(count))
        got = step_share(elapsed, context, generation).estimate if which == "step" else held_share(
            elapsed, context, generation
        )  # fmt: skip
        return ends(got), truth

    return draw


def step_time_cases() -> Iterator[Case]:
    """Prefill share of step time, and what prefill holds, from a log of steps."""
    for count, correlation, least in ((500, 0.0, 0.93), (1000, 0.95, 0.88), (5000, 0.98, 0.90)):
        situation = f"{count:,} steps, " + (
            "no drift" if not correlation else f"drift over {1 / (1 - correlation):.0f} steps"
        )
        for which, name in (("step", "prefill share of step time"), ("held", "share held by prefill")):
            yield Case(name, situation, least, 1.0, _steps(count, correlation, which),
                       reps=150 if count < 5000 else 0, long_reps=1000)  # fmt: skip
