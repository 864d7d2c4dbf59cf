"""Units for reading: by what a number is divided, what is written after it, and which figures of a unit differ."""

from dataclasses import dataclass

GIB = 2.0**30
PLAIN_IDS = frozenset(
    {
        "boots.outcome_count",
        "claims.verdict_count",
        "decision.condition",
        "decision.conditions_true",
        "degradation.fallback_lines",
        "finish.unmatched",
        "fleet.replicas",
        "fleet.settings",
        "fleet.unlike",
        "mixed.requests",
        "mixed.requests_peak",
        "pool.requests_at_max_length",
        "time.mean_concurrency",
        "time.requests",
        "turn.dose",
    }
)
"""Figures in unit 1 that are not shares and are therefore not shown as %."""
CHANCES = frozenset({"kv.refusal_probability"})
"""Figures from the tails of few boots: without their false digits."""
SMALL = 0.001
"""A chance below this comes from a far tail: it is shown as "under 0.1 %"."""
NOT_NEGATIVE = frozenset(
    {
        "at_length.decode_seconds",
        "at_length.prefill_seconds",
        "kv.predicted_available",
        "kv.request_fixed",
        "kv.request_per_token",
        "length.decode_seconds",
        "length.prefill_seconds",
        "mixed.completion",
        "mixed.inter_token",
        "mixed.prefill",
        "mixed.queue",
        "mixed.ttft",
        "pool.available",
        "pool.next_boot",
        "pool.tokens",
        "refusal.longest",
        "refusal.needed",
        "time.decode_seconds",
        "time.prefill_seconds",
        "time.queue_seconds",
    }
)
"""Amounts of memory, tokens and time: a low end below zero is shown as 0. Differences and slopes are not among them."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How a unit is shown: divide by `divisor`, write `text` after the number and `prefix` (k) after each end."""

    divisor: float
    text: str
    prefix: str = ""


_LADDERS: dict[str, tuple[tuple[float, Scale], ...]] = {
    "s": (
        (0.0, Scale(1e-6, " µs")), (1e-3, Scale(1e-3, " ms")), (1.0, Scale(1.0, " s")),
        (600.0, Scale(60.0, " min")), (7200.0, Scale(3600.0, " h")),
    ),
    "bytes": (
        (0.0, Scale(1.0, " B")), (1024.0, Scale(1024.0, " KiB")), (2.0**20, Scale(2.0**20, " MiB")),
        (GIB, Scale(GIB, " GiB")), (2.0**40, Scale(2.0**40, " TiB")),
    ),
    "tokens": ((0.0, Scale(1.0, " tokens")), (1e4, Scale(1e3, " tokens", "k"))),
    "tokens/s": ((0.0, Scale(1.0, " tokens/s")),),
    "bytes/s": ((0.0, Scale(1.0, " B/s")), (1e6, Scale(1e6, " MB/s")), (1e9, Scale(1e9, " GB/s"))),
}  # fmt: skip
_LADDERS["bytes/token"] = tuple((at, Scale(s.divisor, s.text + "/token")) for at, s in _LADDERS["bytes"])
_LADDERS["J"] = ((0.0, Scale(1.0, " J")), (1e4, Scale(1e3, " kJ")), (3.6e6, Scale(3.6e6, " kWh")))


def scale_of(unit: str, magnitude: float, *, plain: bool = False) -> Scale:
    """The scale for a number of this magnitude; unit 1 is a share in % unless `plain`."""
    if unit in ("1", ""):
        return Scale(1.0, "") if plain or not unit else Scale(0.01, " %")
    if unit == "x":
        return Scale(1.0, "x")
    if unit == "1/h":
        return Scale(1.0, " per hour")
    if unit == "1/s":
        return Scale(1.0, " per second")
    steps = _LADDERS.get(unit, ((0.0, Scale(1.0, f" {unit}")),))
    return [scale for at, scale in steps if at == 0 or abs(magnitude) >= at][-1]
