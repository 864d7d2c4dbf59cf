"""Lines of seconds on lengths: exact on exact data, the jackknife by hand, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.estimates import length_line
from analysis.estimates.length_line import LengthFit, at_length, of_requests, of_windows, slope_rate
from analysis.estimates.rounding import show

LENGTHS = np.array([100, 200, 400, 800, 1000, 1500, 2000, 3000, 4000, 5000], float)
OUTPUTS = np.array([11, 21, 31, 41, 51, 61, 71, 81, 91, 101], float)
NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2, 0.5, -0.3, 0.1, -0.1, 0.2])


def _fit(prefill: np.ndarray, decode: np.ndarray, blocks: np.ndarray | None = None) -> LengthFit:
    block = np.arange(10) // 2 if blocks is None else blocks
    found = of_requests(LENGTHS, OUTPUTS, prefill, decode, block)
    assert isinstance(found, LengthFit), found
    return found


def test_exact_data_give_the_exact_line() -> None:
    fit = _fit(0.5 + 0.001 * LENGTHS, (OUTPUTS - 1) * (0.05 + 1e-6 * LENGTHS))
    assert fit.coefficients == pytest.approx([0.5, 0.001, 0.05, 1e-6])
    prefill, decode, share = at_length(fit, 2500, 61)
    assert prefill.value == pytest.approx(3.0)
    assert decode.value == pytest.approx(60 * 0.0525)
    assert share.value == pytest.approx(3.0 / 6.15)
    assert prefill.reason == "the blocks are all alike: no spread seen"
    assert slope_rate(fit).value == pytest.approx(1000.0)
    assert (fit.shortest, fit.longest, fit.answer) == (100, 5000, 56)


def test_the_interval_leaves_one_block_out_at_a_time() -> None:
    prefill_s = 0.5 + 0.001 * LENGTHS + NOISE
    fit = _fit(prefill_s, (OUTPUTS - 1) * 0.05)
    block = np.arange(10) // 2
    logs = []
    for b in range(5):
        slope, fixed = np.polyfit(LENGTHS[block != b], prefill_s[block != b], 1)
        logs.append(np.log(fixed + slope * 3000))
    slope, fixed = np.polyfit(LENGTHS, prefill_s, 1)
    reach = stats.t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((np.array(logs) - np.mean(logs)) ** 2).sum())
    got = at_length(fit, 3000, 51).prefill
    assert got.value == pytest.approx(fixed + slope * 3000)
    assert (got.low, got.high) == pytest.approx(tuple(got.value * np.exp([-reach, reach])))
    assert (got.n, got.n_of, got.confidence) == (5, "blocks", 0.95)


def test_a_length_that_was_not_recorded_is_marked_on_every_figure() -> None:
    fit = _fit(0.5 + 0.001 * LENGTHS + NOISE, (OUTPUTS - 1) * 0.05 + np.abs(NOISE))
    inside, outside = at_length(fit, 5000, 51), at_length(fit, 38_000, 600)
    assert all(not e.warnings for e in inside)
    assert all(e.warnings[0].startswith("extrapolated: recorded prompts have 100 to 5,000 tokens") for e in outside)
    assert outside.prefill.value == pytest.approx(fit.coefficients[0] + 38_000 * fit.coefficients[1])


def test_a_longer_context_never_makes_a_token_faster() -> None:
    fit = _fit(0.5 + 0.001 * LENGTHS, (OUTPUTS - 1) * (0.05 - 5e-6 * LENGTHS))
    gaps = OUTPUTS - 1
    assert fit.coefficients[3] == 0
    assert fit.coefficients[2] == pytest.approx((gaps * gaps * (0.05 - 5e-6 * LENGTHS)).sum() / (gaps**2).sum())


def test_scrape_intervals_give_the_same_line() -> None:
    n = np.array([1, 2, 3, 1, 2, 4, 2, 1, 3, 2, 0], float)
    prompt = np.array([900, 500, 7000, 40, 3000, 800, 100, 5000, 600, 2222, 0], float)
    output = n * 30
    fit = of_windows(n, prompt, output, 0.2 * n + 0.002 * prompt, 0.07 * (output - n), np.arange(11) // 2)
    assert isinstance(fit, LengthFit)
    assert fit.coefficients == pytest.approx([0.2, 0.002, 0.07, 0.0])
    assert (fit.n, fit.n_of, fit.answer) == (10, "scrape intervals", 30)
    assert (fit.shortest, fit.longest) == (40, 5000)
    assert "lengths are means of scrape intervals" in at_length(fit, 1000, 10).prefill.warnings[0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda x: x[:7], "fewer than 8 requests"),
        (lambda x: np.where(np.arange(10) == 3, np.nan, x), "requests: some values are missing or not finite"),
        (lambda x: x[:0], "no requests"),
    ],
)
def test_what_is_refused(change, why: str) -> None:  # noqa: ANN001
    columns = (LENGTHS, OUTPUTS, 0.001 * LENGTHS, OUTPUTS)
    assert of_requests(*(change(c) for c in columns), change(np.arange(10.0))[: len(change(LENGTHS))]) == why


def test_lengths_must_differ_and_in_more_than_one_block() -> None:
    same = np.full(10, 300.0)
    assert of_requests(same, OUTPUTS, same, same, np.arange(10)) == "all prompts are of one length (300 tokens)"
    one = np.where(np.arange(10) == 0, 900.0, 300.0)
    assert (
        of_requests(one, OUTPUTS, one, one, np.arange(10)) == "prompts of another length are in one block of time only"
    )
    few = _fit(0.5 + 0.001 * LENGTHS + NOISE, OUTPUTS, np.arange(10) % 4)
    assert at_length(few, 1000, 10).prefill.reason == "fewer than 5 blocks"


def test_a_line_below_zero_is_no_figure() -> None:
    fit = _fit(np.maximum(0.002 * LENGTHS - 1.0, 0), OUTPUTS)
    prefill, _, share = at_length(fit, 100, 20)
    assert prefill.value is None and share.value is None
    assert prefill.reason == "the line leaves what is possible: it is not above zero there"
    falling = _fit(10 - 0.001 * LENGTHS, OUTPUTS)
    assert slope_rate(falling).value is None
    assert at_length(fit, 0, 20).prefill.reason == "lengths are at least one token each"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*(st.floats(0, 1e6),) * 4, st.integers(0, 6)), max_size=25), st.floats(1, 1e6))
def test_anything(rows: list[tuple[float, ...]], asked: float) -> None:
    columns = np.array(rows, float).reshape(len(rows), 5).T
    for fit in (of_requests(*columns), of_windows(columns[4], *columns[:4], columns[4])):
        if isinstance(fit, str):
            assert fit
            continue
        for e in (*at_length(fit, asked, 7), slope_rate(fit)):
            assert show(e)
            assert e.low is None or (e.low <= e.value * (1 + 1e-9) and e.value <= e.high * (1 + 1e-9))  # type: ignore[operator]


def test_at_least_five_blocks_is_the_documented_limit() -> None:
    assert (length_line.LEAST_ROWS, length_line.LEAST_BLOCKS) == (8, 5)
