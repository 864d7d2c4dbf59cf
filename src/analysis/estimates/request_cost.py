"""Assumption: one request of length L needs a + bL bytes. The two parts from a refusal, and the identity of a pool."""

from math import isfinite

from numpy.typing import ArrayLike

from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import floats, problem

ASSUMPTION = "a request of length L needs a + bL bytes under the configuration of this boot"
_BROKEN = "the memory logged is not the memory that sized the pool, or the configurations differ"
_IDENTITY = "available over pool, across boots"
BLOCK_ROUNDING = 0.01
"""available x length / pool must agree between boots of one configuration to about a block."""


def request_cost(
    length_tokens: float, needed_bytes: float, available_bytes: float, longest_tokens: float, rounding_bytes: float
) -> tuple[Estimate, Estimate]:
    """The fixed part a and the part per token b of one request, from one refusal message.

    needed = a + b length and available = a + b longest ("estimated maximum model length"), so there is no boot noise,
    only the rounding of the message: `rounding_bytes` is half a unit of its last digit. Returns (a, b), kind bound.
    """
    return _two_points(
        (longest_tokens, available_bytes), (length_tokens, needed_bytes), rounding_bytes, "one refusal message"
    )


def request_cost_from_needs(
    short_tokens: float, short_bytes: float, long_tokens: float, long_bytes: float, rounding_bytes: float
) -> tuple[Estimate, Estimate]:
    """The same from the needs at two lengths, each available x length / pool of a boot; their scatter goes in."""
    a, b = _two_points(
        (short_tokens, short_bytes), (long_tokens, long_bytes), rounding_bytes, "needs of two boots at two lengths"
    )
    note = "two boots: their scatter is in the figure and not in its limits"
    return a.with_warnings(note), b.with_warnings(note)


def _two_points(
    low: tuple[float, float], high: tuple[float, float], rounding: float, method: str
) -> tuple[Estimate, Estimate]:
    (l1, y1), (l2, y2) = low, high
    refused = None
    if not all(isfinite(v) and v >= 0 for v in (*low, *high, rounding)):
        refused = "a length or a memory figure is missing or negative"
    elif l1 >= l2:
        refused = "the two lengths do not differ as they should"
    elif y2 - y1 <= 2 * rounding:
        refused = "the two memory figures are equal to their rounding"
    if refused is not None:
        return no_interval(None, "bytes", method, refused), no_interval(None, "bytes/token", method, refused)
    per_token, off = (y2 - y1) / (l2 - l1), 2 * rounding / (l2 - l1)
    fixed, fixed_off = y1 - per_token * l1, rounding * (l1 + l2) / (l2 - l1)
    warnings = ("the fixed part is negative: the straight line does not hold",) if fixed + fixed_off < 0 else ()
    return (
        Estimate(fixed, "bytes", "bound", method, fixed - fixed_off, fixed + fixed_off, assumption=ASSUMPTION,
                 warnings=warnings),
        Estimate(per_token, "bytes/token", "bound", method, per_token - off, per_token + off, assumption=ASSUMPTION),
    )  # fmt: skip


def implied_need(available_bytes: float, pool_tokens: float, length_tokens: float) -> Estimate:
    """The memory one request of `length_tokens` needs, as the printed pool implies: available x length / pool."""
    if not all(isfinite(v) and v > 0 for v in (available_bytes, pool_tokens, length_tokens)):
        return no_interval(None, "bytes", "available x length / pool", "available, pool or length is not known")
    return Estimate(
        available_bytes * length_tokens / pool_tokens, "bytes", "census", "available x length / pool", n=1,
        n_of="boots",
        assumption="the available memory logged is the memory that sized the pool",
    )  # fmt: skip


def pool_identity(available_bytes: ArrayLike, pool_tokens: ArrayLike) -> Estimate:
    """Available over pool must be one constant over boots of one configuration; verdict `holds` or `broken`.

    The value is the largest over the smallest, less one. Where it is broken, no bytes per token may be stated.
    """
    available, pool = floats(available_bytes), floats(pool_tokens)
    if (why := problem("boots", available, pool, positive=True)) is not None:
        return no_interval(None, "1", _IDENTITY, why, n=len(pool), n_of="boots")
    return needs_agree(available / pool, 0 * pool)


def needs_agree(need_bytes: ArrayLike, rounding_bytes: ArrayLike) -> Estimate:
    """The same from the need of a longest request by each boot, and what the log's rounding can do to it."""
    need, rounding = floats(need_bytes), floats(rounding_bytes)
    why = problem("boots", need, positive=True) or problem("boots", need, rounding)
    if (why := why or ("one boot" if len(need) < 2 else None)) is not None:
        return no_interval(None, "1", _IDENTITY, why, n=len(need), n_of="boots")
    apart = float((need - rounding).max() / (need + rounding).min() - 1)
    broken = apart > BLOCK_ROUNDING
    return Estimate(
        float(need.max() / need.min() - 1), "1", "identity", _IDENTITY, n=len(need), n_of="boots",
        assumption="one configuration", warnings=(_BROKEN,) if broken else (),
        verdict="broken" if broken else "holds",
    )  # fmt: skip
