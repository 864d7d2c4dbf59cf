"""Assumption: blocks of time are independent, and seconds grow with tokens on a straight line."""

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, exp_end, floats, logit_ends, problem

LEAST_ROWS, LEAST_BLOCKS = 8, 5
FIXED, PER_TOKEN, DECODE, DECODE_BY_LENGTH = range(4)
"""Coefficients: prefill seconds of a request and of each prompt token; of each output token, and by prompt length."""


@dataclass(frozen=True, slots=True, eq=False)
class LengthFit:
    """Least squares of prefill and decode seconds on lengths: all rows, and with each block of time left out.

    `coefficients` are FIXED, PER_TOKEN, DECODE, DECODE_BY_LENGTH; `left_out` has a row of them for each block;
    `shortest` and `longest` are the prompts that were recorded, `answer` the median of output tokens. `notes` go with
    every figure of the fit.
    """

    coefficients: Floats
    left_out: NDArray[np.float64]
    n: int
    n_of: str
    shortest: float
    longest: float
    answer: float
    notes: tuple[str, ...] = ()


class AtLength(NamedTuple):
    """What a request of given lengths takes: seconds of prefill and of decode, and the prefill share of both."""

    prefill: Estimate
    decode: Estimate
    share: Estimate


def of_requests(
    prompt: ArrayLike, output: ArrayLike, prefill_s: ArrayLike, decode_s: ArrayLike, block: ArrayLike
) -> LengthFit | str:
    """The fit over requests, or why there is none: prefill = a + b L, decode = (O - 1)(c + d L) with d >= 0.

    `prompt` L and `output` O are tokens, `block` numbers the block of time of each request.
    """
    length, tokens, prefill, decode = (floats(v) for v in (prompt, output, prefill_s, decode_s))
    labels = np.unique(floats(block), return_inverse=True)[1]
    if (why := problem("requests", length, tokens, prefill, decode, floats(labels))) is not None:
        return why
    if len(length) < LEAST_ROWS:
        return f"fewer than {LEAST_ROWS} requests"
    gaps = np.maximum(tokens - 1, 0)
    rows = np.column_stack((np.ones_like(length), length)), np.column_stack((gaps, gaps * length))
    return _fit(rows, (prefill, decode), labels, (length, tokens), "requests")


def of_windows(
    requests: ArrayLike, prompt: ArrayLike, output: ArrayLike, prefill_s: ArrayLike, decode_s: ArrayLike,
    block: ArrayLike,
) -> LengthFit | str:  # fmt: skip
    """The same over scrape intervals, from what finished in each: prefill = a N + b ΣL, decode = c Σ(O - 1).

    Rows are weighted with 1/N, for the scatter of a sum grows with it. Lengths are the means of the intervals.
    """
    columns = [floats(v) for v in (requests, prompt, output, prefill_s, decode_s, block)]
    if (why := problem("intervals", *columns)) is not None:
        return why
    used = (columns[0] > 0) & (columns[1] > 0)
    n, length, tokens, prefill, decode, labels = (v[used] for v in columns)
    if len(n) < LEAST_ROWS:
        return f"fewer than {LEAST_ROWS} scrape intervals in which requests finished"
    weight = 1 / np.sqrt(n)
    gaps = np.maximum(tokens - n, 0) * weight
    rows = np.column_stack((n, length)) * weight[:, None], np.column_stack((gaps, np.zeros_like(gaps)))
    found = _fit(rows, (prefill * weight, decode * weight), np.unique(labels, return_inverse=True)[1],
                 (length / n, tokens / n), "scrape intervals")  # fmt: skip
    note = "lengths are means of scrape intervals, and the decode seconds of a token do not change with them"
    return found if isinstance(found, str) else replace(found, notes=(note,))


def _fit(
    designs: tuple[Floats, Floats], answers: tuple[Floats, Floats], block: NDArray[np.int64],
    lengths: tuple[Floats, Floats], n_of: str,
) -> LengthFit | str:  # fmt: skip
    length, output = lengths
    if not length.max() > length.min():
        return f"all prompts are of one length ({length[0]:g} tokens)"
    blocks = int(block.max()) + 1
    kept = [np.ones(len(block), bool), *(block != b for b in range(blocks))]
    if any(np.ptp(length[rows]) <= 0 for rows in kept if rows.any()):
        return "prompts of another length are in one block of time only"
    (x, u), (y, v) = designs, answers
    found = np.array([np.concatenate((_least_squares(x[r], y[r]), _not_falling(u[r], v[r]))) for r in kept])
    return LengthFit(found[0], found[1:], len(length), n_of, float(length.min()), float(length.max()),
                     float(np.median(output)))  # fmt: skip


def _least_squares(design: Floats, answer: Floats) -> Floats:
    return floats(np.linalg.lstsq(design, answer, rcond=None)[0])


def _not_falling(design: Floats, answer: Floats) -> Floats:
    """Decode seconds of a token, and by prompt length: a longer context never makes a token faster.

    Where it seems to, long prompts ran beside fewer other requests, and the length is left out.
    """
    found = _least_squares(design, answer)
    return found if found[1] >= 0 else floats([*_least_squares(design[:, :1], answer), 0.0])


def at_length(fit: LengthFit, prompt_tokens: float, output_tokens: float) -> AtLength:
    """Seconds of prefill and decode, and the prefill share, of a request of these lengths, as the fit has it.

    Intervals leave one block of time out at a time (jackknife, t with one degree less than blocks), on the logarithm
    or the log-odds. Beyond the recorded prompts the line is taken to go on, and that is said.
    """
    if not (isfinite(prompt_tokens) and isfinite(output_tokens) and prompt_tokens > 0 and output_tokens >= 1):
        why = "lengths are at least one token each"
        return AtLength(no_interval(None, "s", "none", why), no_interval(None, "s", "none", why),
                        no_interval(None, "1", "none", why))  # fmt: skip
    each = np.vstack((fit.coefficients, fit.left_out))
    prefill = each[:, FIXED] + each[:, PER_TOKEN] * prompt_tokens
    decode = (output_tokens - 1) * (each[:, DECODE] + each[:, DECODE_BY_LENGTH] * prompt_tokens)
    notes = (*fit.notes, *_outside(fit, prompt_tokens))
    whole = np.where(prefill + decode > 0, prefill + decode, np.nan)
    found = (
        _of_blocks(prefill, "s", "prefill seconds on prompt tokens", fit),
        _of_blocks(decode, "s", "decode seconds on output tokens", fit),
        _of_blocks(prefill / whole, "1", "prefill share of both lines", fit),
    )
    return AtLength(*(e.with_warnings(*notes) for e in found))


def slope_rate(fit: LengthFit) -> Estimate:
    """Prompt tokens per second of prefill along the length: one over the seconds that each further token takes.

    What every request waits for whatever its length is in the fixed part, not in this rate.
    """
    with np.errstate(divide="ignore"):
        each = 1 / np.concatenate((fit.coefficients[PER_TOKEN : PER_TOKEN + 1], fit.left_out[:, PER_TOKEN]))
    return _of_blocks(each, "tokens/s", "slope of prefill seconds on prompt tokens", fit).with_warnings(*fit.notes)


def _outside(fit: LengthFit, prompt_tokens: float) -> tuple[str, ...]:
    if fit.shortest <= prompt_tokens <= fit.longest:
        return ()
    return (
        f"extrapolated: recorded prompts have {fit.shortest:,.0f} to {fit.longest:,.0f} tokens; it holds only if the "
        "line goes on, and attention makes long prompts slower than a line",
    )


def _of_blocks(each: Floats, unit: str, what: str, fit: LengthFit) -> Estimate:
    """The first value with its jackknife interval from the others; a share on the log-odds, else on the logarithm."""
    value, left_out, blocks = float(each[0]), each[1:], len(each) - 1
    method, share = f"least squares: {what}", unit == "1"
    if not (isfinite(value) and value > 0 and (value < 1 or not share)):
        why = "the line leaves what is possible: it is not above zero there"
        return no_interval(None, unit, method, why, n=fit.n, n_of=fit.n_of)
    if blocks < LEAST_BLOCKS:
        return no_interval(value, unit, method, f"fewer than {LEAST_BLOCKS} blocks", n=fit.n, n_of=fit.n_of)
    if not (np.isfinite(left_out).all() and (left_out > 0).all() and ((left_out < 1).all() or not share)):
        why = "without one of the blocks of time the line leaves what is possible"
        return no_interval(value, unit, method, why, n=fit.n, n_of=fit.n_of)
    moved = special.logit(left_out) if share else np.log(left_out)
    se = sqrt((blocks - 1) / blocks * float(((moved - moved.mean()) ** 2).sum()))
    if se <= 1e-12:
        return no_interval(value, unit, method, "the blocks are all alike: no spread seen", n=blocks, n_of="blocks")
    t = t_quantile(blocks - 1)
    centre = float(np.log(value))
    low, high = logit_ends(value, se, t) if share else (exp_end(centre - t * se), exp_end(centre + t * se))
    return Estimate(
        value, unit, "estimate", f"{method}, {blocks} blocks of {fit.n_of} left out in turn", low, high, CONFIDENCE,
        blocks, "blocks", "a straight line; blocks of time are independent",
    )  # fmt: skip
