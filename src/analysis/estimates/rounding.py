"""Numbers become text here and nowhere else: digits by the width of the interval, ends outwards, units for reading."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, inf, isfinite, log10

from analysis.estimates.estimate import Estimate

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
CENSUS_DIGITS = 3
FURTHER = 6
"""Most digits that are added to keep a share from being shown as all."""
SKEWED = 3.0
"""An interval with one side this many times the other is rounded side by side."""
BARE_DIGITS = 2
"""Digits of a number without an interval, or of one that is smaller than its interval's half-width."""
FINEST = Decimal("0.01")
"""The finest step of a value within a wide interval, in steps of the interval: what is nearly zero stays zero."""


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
        (2.0**30, Scale(2.0**30, " GiB")), (2.0**40, Scale(2.0**40, " TiB")),
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


def step_of(half_width: float) -> Decimal:
    """The rounding step: one unit of the second digit where the leading digits are 1.0 to 3.5, else of the first."""
    power = floor(log10(half_width))
    lead = half_width / 10.0**power
    if lead >= 9.9999999999:
        power, lead = power + 1, 1.0
    return Decimal(1).scaleb(power - 1 if lead <= 3.5 else power)


def round_interval(value: float, low: float, high: float) -> tuple[Decimal, Decimal | None, Decimal | None]:
    """Value to the step of its interval's half-width, ends outwards; an infinite end is None.

    Of a skewed interval each end has the step of its own side, and the value the finer one: the long side would round
    the short one away. Both ends infinite, or equal to the value: about two digits. A value below the half-width keeps
    two digits (`FINEST` at most), because the step of such an interval would leave nothing of it.
    """
    sides = [abs(end - value) for end in (low, high)]
    finite = [side for side in sides if isfinite(side)]
    if len(finite) == 2 and max(finite) > SKEWED * min(finite) > 0:
        steps = [step_of(side) for side in sides]
    else:
        half = sum(finite) / len(finite) if finite else 0.0
        steps = [step_of(half) if half > 0 else Decimal(1).scaleb(_digits(value, 1).adjusted() - BARE_DIGITS + 1)] * 2
    return (
        _to_step(value, _value_step(value, finite, min(steps)), ROUND_HALF_EVEN),
        _to_step(low, steps[0], ROUND_FLOOR) if isfinite(low) else None,
        _to_step(high, steps[1], ROUND_CEILING) if isfinite(high) else None,
    )


def _value_step(value: float, sides: list[float], step: Decimal) -> Decimal:
    if not sides or value == 0 or abs(value) >= sum(sides) / len(sides):
        return step
    own = Decimal(1).scaleb(_digits(value, BARE_DIGITS).adjusted() - BARE_DIGITS + 1)
    return min(step, max(own, step * FINEST))


def _to_step(number: float, step: Decimal, mode: str) -> Decimal:
    # Twelve digits first: 0.644999999999999 is 0.645 with the noise of binary arithmetic, not a number below it.
    rounded = (Decimal(f"{number:.12g}") / step).to_integral_value(mode) * step
    return (rounded + 0).quantize(step) if rounded else Decimal(0).quantize(step)


def _digits(number: float, digits: int) -> Decimal:
    if number == 0:
        return Decimal(0)
    return Decimal(f"{number:.{digits - 1}e}")


def _text(number: Decimal) -> str:
    return f"{number:,f}".replace("-", "−")


def show_number(value: float | None, unit: str = "", *, digits: int | None = None, plain: bool = False) -> str:
    """One number with its unit and no interval: counts whole, anything else three digits (or `digits`)."""
    if value is None:
        return "not known"
    if not isfinite(value):
        return "not a number" if value != value else ("unlimited" if value > 0 else "minus unlimited")
    scale = scale_of(unit, value, plain=plain)
    if digits is None and unit in ("", "1", "tokens") and value == int(value) and (plain or unit != "1"):
        return f"{int(value):,}".replace("-", "−") + (" tokens" if unit == "tokens" else "")
    return _text(_below_all(value / scale.divisor, digits or CENSUS_DIGITS, scale)) + scale.prefix + scale.text


def _below_all(number: float, digits: int, scale: Scale) -> Decimal:
    """The digits, and more of them where a share short of 100 % would be shown as all."""
    for more in range(digits, digits + FURTHER):
        shown = _digits(number, more)
        if scale.text != " %" or number >= 100 or shown < 100:
            return shown
    return shown


def show_limit(value: float, unit: str = "", *, upper: bool = False, plain: bool = False) -> str:
    """A limit with its unit, three digits: a lower one rounded down, an upper one up."""
    if not isfinite(value) or value == int(value):
        return show_number(value, unit, plain=plain)
    scale = scale_of(unit, value, plain=plain)
    number = value / scale.divisor
    step = Decimal(1).scaleb(_digits(number, CENSUS_DIGITS).adjusted() - CENSUS_DIGITS + 1) if number else Decimal(1)
    limit = _to_step(number, step, ROUND_CEILING if upper else ROUND_FLOOR)
    return _text(limit) + scale.prefix + scale.text


def show(estimate: Estimate, *, digits: int | None = None, plain: bool | None = None) -> str:
    """The figure as text: `69 % [64, 74]`, `10 GiB (no interval: one boot)`, `at least 5.0 s`, `no interval: ...`.

    `digits` are those of a census as its source had them; `plain` keeps a unit-1 figure from being shown as %.
    """
    plain = estimate.id in PLAIN_IDS if plain is None else plain
    if estimate.value is None and estimate.low is None and estimate.high is None:
        reason = estimate.reason or "no reason given"
        return reason if reason.startswith("not computable") else f"no interval: {reason}"
    if estimate.low is None or estimate.high is None:
        return _without_interval(estimate, digits, plain)
    return _with_interval(estimate, estimate.low, estimate.high, plain)


def _without_interval(e: Estimate, digits: int | None, plain: bool) -> str:
    if e.kind in ("census", "identity"):  # counted: no interval is due, so its absence is not said
        return show_number(e.value, e.unit, digits=digits, plain=plain)
    number = show_number(e.value, e.unit, digits=digits or BARE_DIGITS, plain=plain)
    return f"{number} (no interval: {e.reason})" if e.reason else number


def _with_interval(e: Estimate, low: float, high: float, plain: bool) -> str:
    ends = [end for end in (low, high) if isfinite(end)]
    if not ends:
        number = show_number(e.value, e.unit, digits=BARE_DIGITS, plain=plain)
        return f"{number} (no interval: {e.reason or 'no limit either way'})"
    known = e.value is not None and isfinite(e.value)
    if e.kind == "bound" and known and e.value == low and not isfinite(high):
        return f"at least {show_limit(low, e.unit, plain=plain)}"
    centre = e.value if e.value is not None and known else sum(ends) / len(ends)
    scale = scale_of(e.unit, centre, plain=plain)
    value, lower, upper = round_interval(centre / scale.divisor, low / scale.divisor, high / scale.divisor)
    if e.id in NOT_NEGATIVE and centre >= 0 and -inf < low < 0:
        lower = Decimal(0)
    if not known and e.unit == "x" and len(ends) == 1:  # a factor near one: its second digit is all that it says
        return f"at {'least' if isfinite(low) else 'most'} {show_limit(ends[0], 'x', upper=not isfinite(low))}"
    if not known:
        return _range_only(lower, upper, scale)
    limits = ", ".join(
        f"no {which} limit" if end is None else _text(end) + scale.prefix
        for which, end in (("lower", lower), ("upper", upper))
    )
    return f"{_text(value)}{scale.prefix}{scale.text} [{limits}]"


def _range_only(lower: Decimal | None, upper: Decimal | None, scale: Scale) -> str:
    unit = scale.prefix + scale.text
    if upper is None and lower is not None:
        return f"at least {_text(lower)}{unit}"
    if lower is None and upper is not None:
        return f"at most {_text(upper)}{unit}"
    return f"between {_text(lower or Decimal(0))}{scale.prefix} and {_text(upper or Decimal(0))}{unit}"
