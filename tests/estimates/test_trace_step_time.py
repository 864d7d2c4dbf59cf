"""Step time from clients' clocks: a service whose steps are known."""

import pytest

from analysis.estimates.trace_step_time import step_share_from_traces

# One stream gets a token each second from 0 to 20; at 20 a prompt arrives, and until 30 each step takes 2 s.
STREAM = [float(t) for t in range(21)] + [22.0, 24.0, 26.0, 28.0, 30.0]
GAPS = (STREAM[:-1], STREAM[1:])


def test_a_gap_above_decode_alone_is_prefill() -> None:
    found = step_share_from_traces([0, 20], [0, 30], [30, 30], *GAPS)
    assert found.value == pytest.approx(5 / 30)  # ten seconds beside a prefill, of which each step has one for decode
    assert (found.low, found.high) == (0, pytest.approx(1 / 3))
    assert found.confidence is None


def test_a_prompt_alone_is_prefill_all_through_and_idle_time_counts_for_nothing() -> None:
    found = step_share_from_traces([0, 20, 100], [0, 30, 130], [30, 30, 130], *GAPS)
    assert found.value == pytest.approx((30 + 5) / 60)
    assert found.low == pytest.approx(30 / 60)


def test_too_little_to_tell_is_refused() -> None:
    assert step_share_from_traces([0], [0], [20], STREAM[:9], STREAM[1:10]).value is None
    assert step_share_from_traces([0], [0], [20], STREAM[:20], STREAM[1:21]).value is None
    assert step_share_from_traces([0, 20], [0, 30], [30, 30], [], []).reason == "no gaps"
    assert step_share_from_traces([5], [1], [9], *GAPS).reason == "requests: times are out of order"
