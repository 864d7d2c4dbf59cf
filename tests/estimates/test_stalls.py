"""Stalls by hand: three streams of one token every 0.1 s, and a long prompt that holds them up."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.estimates.rounding import show
from analysis.estimates.stalls import Requests, split_lengths, turns
from analysis.estimates.turns import dose, judge, overtaking

STEP = 0.1


def _requests(
    arrivals: list[list[float]], long: list[tuple[float, float, float]], short_tokens: float = 100
) -> Requests:
    """Streams that were sent with their first token, and long prompts as (sent, first token, tokens)."""
    streams = [np.array(a) for a in arrivals]
    n, m = len(streams), len(long)
    return Requests(
        sent_s=np.array([a[0] for a in streams] + [s for s, _, _ in long]),
        first_s=np.array([a[0] for a in streams] + [f for _, f, _ in long]),
        end_s=np.array([a[-1] for a in streams] + [f for _, f, _ in long]),
        tokens=np.array([short_tokens] * n + [t for _, _, t in long], dtype=float),
        is_long=np.array([False] * n + [True] * m),
        arrivals=[*streams, *(np.array([f]) for _, f, _ in long)],
    )


def _stream(*holes: tuple[float, float], until: float = 20.0) -> list[float]:
    """Tokens every 0.1 s from 0, none inside a hole; one at the end of each hole."""
    at = [i * STEP for i in range(round(until / STEP) + 1)]
    return sorted([t for t in at if not any(a + 1e-9 < t < b - 1e-9 for a, b in holes)])


def test_one_hole_is_one_stall_and_its_excess_is_the_hole_less_a_step() -> None:
    holes = [(10.0, 12.0)]
    found, quiet = turns(_requests([_stream(*holes)] * 3, [(10.05, 12.0, 4000)]))
    assert len(found) == 1
    turn = found[0]
    assert turn.problem is None
    assert turn.prompts == (4000,)
    assert turn.excess_s == pytest.approx([1.9])
    assert (turn.stall_start_s[0], turn.stall_end_s[0]) == pytest.approx((10.0, 12.0))
    assert turn.share == 1
    assert turn.worth == pytest.approx([4000])
    assert turn.longest_gap_s == pytest.approx(2.0)
    assert quiet is not None
    assert quiet.usual_s == pytest.approx(STEP)
    assert quiet.excess_s == pytest.approx(np.zeros(len(quiet.excess_s)), abs=1e-9)


def test_the_prompt_is_shared_out_over_the_stalls() -> None:
    holes = [(10.0, 11.1), (11.1, 12.2), (12.2, 12.8)]  # excess 1.0, 1.0, 0.5
    turn = turns(_requests([_stream(*holes)] * 2, [(10.0, 12.8, 5000)]))[0][0]
    assert turn.excess_s == pytest.approx([1.0, 1.0, 0.5])
    assert turn.worth == pytest.approx([2000, 2000, 1000])
    assert turn.share == pytest.approx(0.4)


def test_two_prompts_that_wait_together_are_one_turn_measured_at_the_longer() -> None:
    holes = [(10.0, 13.1), (13.1, 15.2)]  # 3.0 and 2.0 s for 3,000 and 2,000 tokens
    long = [(10.0, 13.1, 3000), (10.1, 15.2, 2000)]
    found, _ = turns(_requests([_stream(*holes)] * 2, long))
    assert [t.prompts for t in found] == [(3000, 2000)]
    assert found[0].worth == pytest.approx([3000, 2000])
    assert found[0].share == pytest.approx(1)


def test_a_silence_of_one_stream_alone_is_no_stall() -> None:
    found, _ = turns(_requests([_stream((10.0, 12.0)), _stream()], [(10.0, 12.0, 4000)]))
    assert len(found[0].excess_s) == 0
    assert found[0].share == pytest.approx(0.05)  # the longest silence, one step, over the turn


def test_a_turn_that_no_stream_witnessed_cannot_be_used() -> None:
    found, _ = turns(_requests([_stream(until=9.0)] * 2, [(10.0, 12.0, 4000)]))
    assert found[0].problem == "no stream was alive to witness it"


def test_without_a_time_alone_there_is_nothing_to_compare_with() -> None:
    found, quiet = turns(_requests([_stream()] * 2, [(0.0, 20.0, 4000)]))
    assert quiet is None
    assert found[0].problem == "no time without a long prompt to compare with"


@pytest.mark.parametrize("gone", ["first_s", "tokens"])
def test_a_request_of_unknown_length_spoils_the_turn_that_it_waits_in(gone: str) -> None:
    requests = _requests([_stream((10.0, 12.0))] * 3, [(10.0, 12.0, 4000), (10.5, 11.0, 4000)])
    getattr(requests, gone)[-1] = np.nan
    found, _ = turns(requests)
    assert [t.problem for t in found] == ["a request of unknown length waited too"]


def test_the_stall_of_a_short_prompt_is_its_own() -> None:
    holes = [(10.0, 12.1), (12.1, 12.5)]  # 2.0 s for the long prompt, 0.3 s for a chat of 900 tokens
    requests = _requests([_stream(*holes)] * 2 + [[12.5 + STEP * i for i in range(70)]], [(10.0, 13.0, 4000)], 900)
    turn = turns(requests)[0][0]
    assert turn.excess_s == pytest.approx([2.0])
    assert turn.share == 1
    few = _requests([_stream(*holes)] * 2 + [[12.5 + STEP * i for i in range(70)]], [(10.0, 13.0, 4000)], 100)
    assert turns(few)[0][0].excess_s == pytest.approx([2.0, 0.3])  # 100 tokens are not half of its worth, 522


def test_the_usual_gap_is_that_of_as_many_streams() -> None:
    """One stream takes 0.1 s a token and two take 0.3 s: with two, a gap of 0.5 s is no stall."""
    first = [i * 0.1 for i in range(100)] + [10 + 0.3 * i for i in range(1, 60)]
    second = [t for t in first if t > 9.95]
    long = [(15.0, 15.6, 4000)]
    held = [t for t in first if not 15.2 < t < 15.6]
    turn = turns(_requests([held, [t for t in second if not 15.2 < t < 15.6]], long))[0][0]
    assert turn.usual_s == pytest.approx(0.3)
    assert len(turn.excess_s) == 0


def test_lengths_are_split_where_two_groups_are_a_factor_of_four_apart() -> None:
    chats, documents = [100.0, 150.0, 200.0], [3000.0, 5000.0]
    cut = split_lengths(np.array(chats + documents))
    assert cut == pytest.approx(np.sqrt(200 * 3000))
    assert split_lengths(np.array([100.0, 150.0, 200.0, 350.0])) is None
    assert split_lengths(np.array([100.0] * 5)) is None
    assert split_lengths(np.array([])) is None
    assert split_lengths(np.array([0.0, 7.0])) is None


def test_order_and_scale_do_not_matter() -> None:
    holes = [(10.0, 11.1), (11.1, 12.2)]
    requests = _requests([_stream(*holes)] * 2 + [_stream(*holes, until=15.0)], [(10.0, 12.2, 5000)])
    order = [3, 1, 0, 2]
    moved = Requests(
        *(getattr(requests, c)[order] + 1.8e9 for c in ("sent_s", "first_s", "end_s")), requests.tokens[order],
        requests.is_long[order], [requests.arrivals[i] + 1.8e9 for i in order],
    )  # fmt: skip
    a, b = turns(requests)[0][0], turns(moved)[0][0]
    assert b.share == pytest.approx(a.share, abs=1e-4)
    assert b.worth == pytest.approx(a.worth, rel=1e-4)


MOMENTS = st.one_of(st.floats(0, 100), st.sampled_from([0.0, 1.8e9, 1e-9]))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(MOMENTS, MOMENTS, st.lists(MOMENTS, max_size=40), st.floats(0, 1e5)), max_size=12))
def test_anything_gives_a_verdict_or_says_why_not(rows: list[tuple[float, float, list[float], float]]) -> None:
    arrivals = [np.sort(np.array(a, dtype=float)) for _, _, a, _ in rows]
    first = np.array([a[0] if len(a) else np.nan for a in arrivals])
    sent = np.minimum(np.array([s for s, *_ in rows]), np.nan_to_num(first, nan=np.inf))
    end = np.array([max(e, s, a[-1] if len(a) else 0) for (_, e, *_), s, a in zip(rows, sent, arrivals, strict=True)])
    tokens = np.array([t for *_, t in rows])
    found, quiet = turns(Requests(sent, first, end, tokens, tokens > 1000, arrivals))
    verdict = judge(found, [quiet] if quiet else [])
    assert verdict.verdict in ("one_block", "interleaved", "cannot_tell", "no_stall")
    assert bool(verdict.why) == (verdict.verdict == "cannot_tell")
    assert all(0 <= t.share <= 1 for t in verdict.usable)
    for estimate in (verdict.share, verdict.block, dose(found), overtaking(found, sent, first)):
        assert show(estimate)
        json.dumps(estimate.to_json(), allow_nan=False)


def test_a_day_of_traffic_is_read_in_seconds() -> None:
    """Half a million arrivals and a thousand long prompts."""
    streams = [list(np.arange(0, 5000, 0.02) + 0.001 * i) for i in range(2)]
    long = [(5.0 * i, 5.0 * i + 1, 4000.0) for i in range(1, 999)]
    began = time.monotonic()
    found, quiet = turns(_requests(streams, long))
    assert judge(found, [quiet] if quiet else []).verdict == "no_stall"
    assert time.monotonic() - began < 10
