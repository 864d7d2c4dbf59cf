"""What the rounding of printed numbers leaves: the published seven gigabytes and the published six times."""

from math import nan

import pytest

from analysis.estimates.printed import Printed
from analysis.estimates.rounding import show


def test_published_cost_by_rounding_only() -> None:
    need, available = Printed.of(9.8, 0.05), Printed.of(6.9, 0.05)
    got = (Printed.of(1_110_255) * need / Printed.of(768_000) - available).estimate("GiB")
    assert [round(v, 2) for v in (got.value, got.low, got.high)] == [7.27, 7.15, 7.39]
    assert got.kind == "bound"
    assert got.warnings


def test_published_six_times() -> None:
    got = (Printed.of(11_000, 500) / Printed.of(1_860, 5)).estimate("x")
    assert [round(v, 1) for v in (got.value, got.low, got.high)] == [5.9, 5.6, 6.2]
    assert show(got) == "5.91x [5.63, 6.20]"


def test_signs_and_zero() -> None:
    product = Printed.of(-2, 1) * Printed.of(3, 1)
    assert (product.low, product.high) == (-12, -2)
    total = Printed.of(1, 0.5) + Printed.of(2, 0.5)
    assert (total.low, total.high) == (2, 4)
    assert (Printed.of(1) / Printed.of(0.01, 0.05)).estimate("x").value is None
    assert Printed.of(nan).estimate("x").value is None
    assert Printed.of(2.0).estimate("x").kind == "identity"
    assert Printed.of(6.0).estimate("x").value == pytest.approx(6.0)
