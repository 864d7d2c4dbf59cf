"""Numbers as text: the published rounding examples, units, ends without limit, reasons."""

from dataclasses import replace
from decimal import Decimal
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.rounding import round_interval, show, show_in_column, show_limit, show_number, show_value


def estimate(value: float | None, low: float, high: float, unit: str = "1", **more: str) -> Estimate:
    return Estimate(value, unit, "estimate", "test", low, high, 0.95, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (0.134, 0.113, 0.159, "1", "13.4 % [11.3, 15.9]"),
        (0.691, 0.645, 0.734, "1", "69 % [64, 74]"),
        (7.27, 1.2, 13.4, "", "7 [1, 14]"),
        (1_102_085, 1_031_000, 1_178_000, "", "1,100,000 [1,030,000, 1,180,000]"),
        (1_102_085, 1_031_000, 1_178_000, "tokens", "1,100k tokens [1,030k, 1,180k]"),
        (7.27 * 2**30, 1.2 * 2**30, 13.4 * 2**30, "bytes", "7 GiB [1, 14]"),
        (0.198, 0.17, 0.23, "s", "198 ms [170, 230]"),
        (1.155, 1.125, 1.191, "x", "1.155x [1.125, 1.191]"),
        (-0.5, -37, 43, "", "−0.5 [−40, 50]"),
        (8.58 * 2**30, -29.77 * 2**30, 46.93 * 2**30, "bytes", "8.6 GiB [−30, 50]"),
        (6.41 * 2**30, -29.77 * 2**30, 46.93 * 2**30, "bytes", "6.4 GiB [−30, 50]"),
        (1e-17, -37, 43, "", "0.0 [−40, 50]"),
        (8.58, 8.2, 60, "", "8.6 [8.2, 60]"),
        (2.93, 2.5, inf, "s", "2.9 s [2.5, no upper limit]"),
        (None, 5.0, inf, "s", "at least 5.0 s"),
        (None, -inf, 2.0, "s", "at most 2.0 s"),
        (None, 0.8, 0.95, "1", "between 80 and 95 %"),
    ],
)
def test_intervals(value: float | None, low: float, high: float, unit: str, text: str) -> None:
    assert show(estimate(value, low, high, unit, reason="no point" if value is None else None)) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("kv.predicted_available", "8.6 GiB [0, 50]"),
        ("pool.next_boot", "8.6 GiB [0, 50]"),
        ("kv.memory_taken", "8.6 GiB [−30, 50]"),
    ],
)
def test_an_amount_has_no_low_end_below_zero_and_a_difference_has(id: str, text: str) -> None:
    gib = 2**30
    assert show(replace(estimate(8.58 * gib, -29.77 * gib, 46.93 * gib, "bytes"), id=id)) == text
    assert show(replace(estimate(8.58, -inf, 46.93, "s"), id="mixed.ttft")) == "8.6 s [no lower limit, 50]"


def test_both_ends_without_limit_is_no_interval() -> None:
    got = estimate(10.1 * 2**30, -inf, inf, "bytes", reason="two boots; four are needed")
    assert show(got) == "10 GiB (no interval: two boots; four are needed)"


def test_no_interval_has_two_digits_and_the_reason() -> None:
    got = no_interval(0.13412, "1", "ratio of sums", "sums only, no buckets")
    assert show(got) == "13 % (no interval: sums only, no buckets)"
    assert show(no_interval(None, "1", "none", "no requests")) == "no interval: no requests"
    assert show(not_computable("s", "ttft is missing")) == "not computable: ttft is missing"


def test_a_census_keeps_its_digits() -> None:
    assert show(Estimate(1_110_893, "tokens", "census", "log")) == "1,110,893 tokens"
    assert show(Estimate(280, "", "census", "count")) == "280"
    assert show(Estimate(0.13412, "1", "census", "ratio of sums")) == "13.4 %"
    assert show(Estimate(9.8 * 2**30, "bytes", "census", "log")) == "9.80 GiB"
    assert show(Estimate(1.4465, "1", "census", "log", id="pool.requests_at_max_length")) == "1.45"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "not known"), (nan, "s", "not a number"), (inf, "s", "unlimited"), (0.0, "s", "0 µs"),
        (0.0000042, "s", "4.20 µs"), (28.0, "s", "28.0 s"), (7300.0, "s", "2.03 h"), (512, "bytes", "512 B"),
        (1860.4, "tokens/s", "1,860 tokens/s"), (0.0, "1", "0 %"), (0, "tokens", "0 tokens"),
        (950_000, "bytes/token", "928 KiB/token"), (212.4, "J", "212 J"), (41.7, "1/h", "41.7 per hour"),
    ],
)  # fmt: skip
def test_single_numbers(value: float | None, unit: str, text: str) -> None:
    assert show_number(value, unit) == text


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_ends_round_outwards(value: float, below: float, above: float) -> None:
    low, high = value - below, value + above
    _, lower, upper = round_interval(value, low, high)
    assert lower is not None
    assert upper is not None
    noise = 1e-11 * (abs(value) + below + above)
    assert float(lower) <= low + noise
    assert float(upper) >= high - noise
    assert float(upper) - float(lower) <= (high - low) * 2 + noise


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(None, "x", "bound", "m", 1.0482, inf, 0.95, reason="r"), "at least 1.04x"),
        (Estimate(None, "x", "bound", "m", -inf, 1.0412, 0.95, reason="r"), "at most 1.05x"),
        (Estimate(8.2871, "1", "bound", "m", 8.2871, inf, id="time.mean_concurrency"), "at least 8.28"),
        (Estimate(3.0, "1", "bound", "m", 3.0, inf, id="time.mean_concurrency"), "at least 3"),
        (Estimate(0.9959, "1", "estimate", "m", reason="r"), "99.6 % (no interval: r)"),
        (Estimate(0.99995, "1", "census", "m"), "99.995 %"),
        (Estimate(1.0, "1", "census", "m"), "100 %"),
    ],
)
def test_a_limit_is_rounded_outwards_and_a_share_short_of_all_is_not_all(estimate: Estimate, text: str) -> None:
    assert show(estimate) == text


@given(st.floats(1e-9, 1e12), st.booleans())
def test_a_shown_limit_is_never_inside(value: float, upper: bool) -> None:
    shown = Decimal(show_limit(value, "x", upper=upper).removesuffix("x").replace(",", ""))
    assert shown >= Decimal(f"{value:.12g}") if upper else shown <= Decimal(f"{value:.12g}")


@pytest.mark.parametrize(
    ("estimate", "text", "alone"),
    [
        (Estimate(30.35, "1", "census", "log", id="pool.requests_at_max_length"), "30.35", "30.35"),
        (Estimate(12.08 * 2**30, "bytes", "census", "log"), "12.08 GiB", "12.08 GiB"),
        (Estimate(0.06 * 2**30, "bytes", "census", "log"), "0.06 GiB", "0.06 GiB"),
        (Estimate(512.0 * 2**20, "bytes", "census", "log"), "512 MiB", "512 MiB"),
        (no_interval(1.4465, "x", "ratio", "one run per arm"), "1.4x (no interval: one run per arm)", "1.4x"),
        (estimate(0.134, 0.113, 0.159), "13.4 % [11.3, 15.9]", "13.4 %"),
        (replace(no_interval(1.5e-8, "1", "m", "r"), id="kv.refusal_probability"), "under 0.1 % (no interval: r)",
         "under 0.1 %"),
        (replace(no_interval(0.99999, "1", "m", "r"), id="kv.refusal_probability"), "over 99.9 % (no interval: r)",
         "over 99.9 %"),
        (not_computable("s", "x"), "not computable: x", "not known"),
        (Estimate(5_977.0, "tokens", "bound", "m", 5_977.0, inf), "at least 5,977 tokens", "5,977 tokens"),
    ],
)  # fmt: skip
def test_a_value_alone_has_the_digits_of_the_whole(estimate: Estimate, text: str, alone: str) -> None:
    assert (show(estimate), show_value(estimate)) == (text, alone)


@pytest.mark.parametrize(
    ("estimate", "scale", "column"),
    [
        (Estimate(30.35, "1", "census", "log", id="pool.requests_at_max_length"), 1, ("30.35", None, None)),
        (Estimate(12.08 * 2**30, "bytes", "census", "log"), 2**-30, ("12.08", None, None)),
        (Estimate(64.0, "1", "census", "log", id="pool.requests_at_max_length"), 1, ("64", None, None)),
        (Estimate(994_477.0, "tokens", "census", "log"), 1, ("994,477", None, None)),
        (Estimate(0.00301, "1", "identity", "m"), 100, ("0.301", None, None)),
        (Estimate(0.99995, "1", "census", "m"), 100, ("99.995", None, None)),
        (no_interval(1.4465, "x", "ratio", "one run per arm"), 1, ("1.4", None, None)),
        (estimate(0.134, 0.113, 0.159), 100, ("13.4", "11.3", "15.9")),
        (estimate(-0.5, -37, 43), 1, ("−0.5", "−40", "50")),
        (Estimate(3.635, "1", "bound", "m", 3.635, inf, id="time.mean_concurrency"), 1, ("3.63", "3.63", None)),
        (replace(estimate(8.58, -29.77, 46.93, "s"), id="mixed.ttft"), 1, ("8.6", "0", "50")),
    ],
)
def test_a_column_has_the_digits_of_the_sentence(
    estimate: Estimate, scale: float, column: tuple[str | None, ...]
) -> None:
    ends = (None if end is None or end == inf else scale * end for end in (estimate.low, estimate.high))
    assert show_in_column(estimate, scale * (estimate.value or 0), *ends) == column
