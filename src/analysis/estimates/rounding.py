"""Numbers become text here and nowhere else: digits by the width of the interval, ends outwards, units for reading.

Which digits a figure has is decided once, for a sentence, for a cell and for the page of all numbers: by `_rounded`
where it has an end, by `_alone` where it has none.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, inf, isclose, isfinite, log10

from analysis.estimates.estimate import Estimate
from analysis.estimates.units import CHANCES, GIB, NOT_NEGATIVE, PLAIN_IDS, SMALL, Scale, scale_of

COUNTED = frozenset({"census", "identity"})
"""Kinds of a figure that is due no interval."""
CENSUS_DIGITS = 3
PRINTED_PLACES = 2
"""Logs print GiB, and how many requests fit, with two decimals: what was read is shown as it was printed."""
FURTHER = 6
"""Most digits that are added to keep a share from being shown as all."""
SKEWED = 3.0
"""An interval with one side this many times the other is rounded side by side."""
BARE_DIGITS = 2
"""Digits of a number without an interval, or of one that is smaller than its interval's half-width."""
FINEST = Decimal("0.01")
"""The finest step of a value within a wide interval, in steps of the interval: what is nearly zero stays zero."""


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
    if digits is None and _is_whole(value, unit, plain):
        return _text(Decimal(int(value))) + (" tokens" if unit == "tokens" else "")
    scale = scale_of(unit, value, plain=plain)
    whole = 100.0 if scale.text == " %" else None
    return _in_scale(_below_all(value / scale.divisor, digits or CENSUS_DIGITS, whole), scale)


def show_chance(value: float) -> str:
    """A chance as %: two digits, none in the far tails."""
    if 0 < value < SMALL or 1 - SMALL < value < 1:
        return f"under {show_number(SMALL, '1', digits=1)}" if value < SMALL else f"over {show_number(1 - SMALL, '1')}"
    return show_number(value, "1", digits=BARE_DIGITS)


def show_limit(value: float, unit: str = "", *, upper: bool = False, plain: bool = False) -> str:
    """A limit with its unit, three digits: a lower one rounded down, an upper one up."""
    if not isfinite(value) or _is_whole(value, unit, plain):
        return show_number(value, unit, plain=plain)
    scale = scale_of(unit, value, plain=plain)
    return _in_scale(_limit(value / scale.divisor, upper=upper), scale)


def show(estimate: Estimate, *, plain: bool | None = None) -> str:
    """The figure as text: `69 % [64, 74]`, `10 GiB (no interval: one boot)`, `at least 5.0 s`, `no interval: ...`.

    `plain` keeps a unit-1 figure from being shown as %.
    """
    return "".join(_told(estimate, estimate.id in PLAIN_IDS if plain is None else plain))


def show_value(estimate: Estimate) -> str:
    """The figure alone, without its interval, why it has none or that it is a limit: with its digits in `show`."""
    if estimate.value is None and estimate.low is None and estimate.high is None:
        return show_number(None)
    told = _told(estimate, estimate.id in PLAIN_IDS)[0]
    return told if estimate.value is None else told.removeprefix("at least ")


def show_in_column(
    estimate: Estimate, value: float | None, low: float | None, high: float | None
) -> tuple[str | None, str | None, str | None]:
    """Value and ends of a figure in the unit of a column, with the digits that they have in `show`."""
    plain, ends = estimate.id in PLAIN_IDS, (-inf if low is None else low, inf if high is None else high)
    numbers: tuple[Decimal | None, ...] = (None, None, None)
    if any(map(isfinite, ends)):
        numbers = _rounded(estimate, value, *ends, plain)
    elif value is not None and isfinite(value):
        numbers = (_alone(estimate, value, plain), None, None)
    value_, lower, upper = (None if number is None else _text(number) for number in numbers)
    return value_, lower, upper


def _told(e: Estimate, plain: bool) -> tuple[str, str]:
    """The figure, and what is said after it: its limits, or why there are none."""
    if e.value is None and e.low is None and e.high is None:
        reason = e.reason or "no reason given"
        return (reason if reason.startswith("not computable") else f"no interval: {reason}"), ""
    low, high = e.low, e.high
    if low is not None and high is not None and (isfinite(low) or isfinite(high)):
        return _with_ends(e, low, high, plain)
    unlimited = low is not None and high is not None
    reason = e.reason or ("no limit either way" if unlimited else "")
    if not reason or (e.kind in COUNTED and not unlimited):  # counted: that no interval is due is not said
        return _without_ends(e, plain), ""
    return _without_ends(e, plain), f" (no interval: {reason})"


def _with_ends(e: Estimate, low: float, high: float, plain: bool) -> tuple[str, str]:
    ends = [end for end in (low, high) if isfinite(end)]
    known = e.value is not None and isfinite(e.value)
    scale = _scale(e, e.value if e.value is not None and known else sum(ends) / len(ends), plain)
    value, lower, upper = _rounded(
        e, None if e.value is None else e.value / scale.divisor, low / scale.divisor, high / scale.divisor, plain
    )
    if value is None or _is_limit(e):
        return _range_only(lower, upper, scale), ""
    limits = ", ".join(
        f"no {which} limit" if end is None else _text(end) + scale.prefix
        for which, end in (("lower", lower), ("upper", upper))
    )
    return _in_scale(value, scale), f" [{limits}]"


def _without_ends(e: Estimate, plain: bool) -> str:
    if e.value is None or not isfinite(e.value):
        return show_number(e.value, e.unit, plain=plain)
    if e.id in CHANCES and e.kind not in COUNTED:
        return show_chance(e.value)
    scale = _scale(e, e.value, plain)
    return _in_scale(_alone(e, e.value / scale.divisor, plain), scale)


def _scale(e: Estimate, magnitude: float, plain: bool) -> Scale:
    usual, counted = scale_of(e.unit, magnitude, plain=plain), e.kind in COUNTED
    if (counted or _is_limit(e)) and _is_whole(magnitude, e.unit, plain):
        return Scale(1.0, " tokens" if e.unit == "tokens" else "")
    if counted and e.unit == "bytes" and _is_printed(magnitude / GIB) and not (magnitude / usual.divisor).is_integer():
        return scale_of("bytes", GIB)  # 0.06 GiB, as a log has it, is not 61.4 MiB
    return usual


def _rounded(
    e: Estimate, value: float | None, low: float, high: float, plain: bool
) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    """Value and ends in the unit in which they are shown; None for a value that is not known and an infinite end."""
    ends = [end for end in (low, high) if isfinite(end)]
    if _is_limit(e):
        whole = _is_whole(ends[0], e.unit, plain)
        limit = Decimal(int(ends[0])) if whole else _limit(ends[0], upper=not isfinite(low))
        return (None if value is None else limit), *((limit, None) if isfinite(low) else (None, limit))
    known = value is not None and isfinite(value)
    centre = value if value is not None and known else sum(ends) / len(ends)
    shown, lower, upper = round_interval(centre, low, high)
    if e.id in NOT_NEGATIVE and centre >= 0 and -inf < low < 0:
        lower = Decimal(0)
    return (shown if known else None), lower, upper


def _is_limit(e: Estimate) -> bool:
    """Whether a limit is all that is known: a bound at its own end, or a factor: its second digit is all it says."""
    if e.value is None:
        return e.unit == "x" and isfinite(e.low or 0.0) != isfinite(e.high or 0.0)
    return e.kind == "bound" and e.value == e.low and e.high == inf


def _alone(e: Estimate, number: float, plain: bool) -> Decimal:
    """A figure without ends, which is `number` in the unit in which it is shown: as printed where it was read."""
    value = number if e.value is None else e.value
    whole = number / value if e.unit == "1" and not plain and value else None
    if e.kind not in COUNTED:
        return _below_all(number, BARE_DIGITS, whole)
    if number == value and _is_whole(value, e.unit, plain):
        return Decimal(int(number))
    shown, printed = _below_all(number, CENSUS_DIGITS, whole), Decimal(f"{number:.{PRINTED_PLACES}f}")
    if not _is_printed(number):
        return shown
    if e.unit == "bytes" and isclose(number * GIB, value):
        return printed
    return printed.normalize() if (plain or e.unit == "x") and printed != shown else shown


def _is_whole(value: float, unit: str, plain: bool) -> bool:
    """Whether it is a count, which is shown with all its digits."""
    return value == int(value) and (unit in ("", "tokens") or (unit == "1" and plain))


def _is_printed(number: float) -> bool:
    return isclose(number, round(number, PRINTED_PLACES), rel_tol=1e-9, abs_tol=1e-12)


def _limit(number: float, *, upper: bool) -> Decimal:
    step = Decimal(1).scaleb(_digits(number, CENSUS_DIGITS).adjusted() - CENSUS_DIGITS + 1) if number else Decimal(1)
    return _to_step(number, step, ROUND_CEILING if upper else ROUND_FLOOR)


def _below_all(number: float, digits: int, whole: float | None) -> Decimal:
    """The digits, and more of them where a share short of 100 % (`whole`) would be shown as all."""
    for more in range(digits, digits + FURTHER):
        shown = _digits(number, more)
        if whole is None or number >= whole or shown < Decimal(f"{whole:.9g}"):
            return shown
    return shown


def _range_only(lower: Decimal | None, upper: Decimal | None, scale: Scale) -> str:
    unit = scale.prefix + scale.text
    if upper is None and lower is not None:
        return f"at least {_text(lower)}{unit}"
    if lower is None and upper is not None:
        return f"at most {_text(upper)}{unit}"
    return f"between {_text(lower or Decimal(0))}{scale.prefix} and {_text(upper or Decimal(0))}{unit}"


def _in_scale(number: Decimal, scale: Scale) -> str:
    return _text(number) + scale.prefix + scale.text
