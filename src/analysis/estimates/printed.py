"""Assumption: a printed number is right to half a unit of its last digit. What rounding alone leaves of a result."""

from dataclasses import dataclass
from math import inf

from analysis.estimates.estimate import Estimate, no_interval


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed, between two limits; `+ - * /` keep the limits. Use each number once in a calculation."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, half_unit: float = 0.0) -> "Printed":
        """`Printed.of(9.8, 0.05)`: what prints as 9.8."""
        return cls(value, value - half_unit, value + half_unit)

    def __add__(self, other: "Printed") -> "Printed":
        return Printed(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Printed") -> "Printed":
        return Printed(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Printed") -> "Printed":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Printed(self.value * other.value, min(ends), max(ends))

    def __truediv__(self, other: "Printed") -> "Printed":
        if other.low <= 0 <= other.high:
            return Printed(inf, -inf, inf)
        return self * Printed(1 / other.value, 1 / other.high, 1 / other.low)

    def estimate(self, unit: str, method: str = "arithmetic on printed numbers") -> Estimate:
        """As a bound: rounding only, without any scatter of what was measured."""
        if not all(-inf < v < inf for v in (self.value, self.low, self.high)):
            return no_interval(None, unit, method, "a printed number may be zero and is divided by, or is missing")
        if self.low == self.high:
            return Estimate(self.value, unit, "identity", method, assumption="the printed numbers are exact")
        return Estimate(
            self.value, unit, "bound", method, self.low, self.high, assumption="printed numbers are rounded, not cut",
            warnings=("rounding only: a lower limit of the doubt",),
        )  # fmt: skip
