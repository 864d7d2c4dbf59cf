"""The clock's states: by hand, and against a slow count of every moment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.wall_states import STATES, clients_at_once, state_shares, states


def test_states_by_hand() -> None:
    # a prefills 0-2 and decodes 2-6; b prefills 4-5 and decodes 5-7; nothing 7-9; c prefills 9-10 and ends.
    shares = state_shares([0, 4, 9], [2, 5, 10], [6, 7, 10])
    assert {state: e.value for state, e in shares.items()} == {
        "idle": 0.2, "prefill_only": 0.3, "decode_only": 0.4, "both": 0.1, "prefill": 0.4,
    }  # fmt: skip
    assert all(e.low is None and e.reason == "fewer than 10 windows with requests" for e in shares.values())


def test_what_cannot_be_is_refused() -> None:
    for times in (([], [], []), ([1], [1], [1]), ([2], [1], [3]), ([0], [2], [1]), ([float("nan")], [1], [2])):
        assert {e.value for e in state_shares(*times).values()} == {None}


def test_clients_at_once_is_one_only_without_overlap() -> None:
    assert clients_at_once([0, 5, 7], [2, 7, 8]).value == 1
    assert clients_at_once([0, 1], [2, 3]).value == 4 / 3
    assert clients_at_once([3], [1]).value is None


TIMES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12)


@given(TIMES)
def test_states_are_what_a_count_of_each_second_finds(requests: list[tuple[int, int, int]]) -> None:
    sent = np.array([s for s, _, _ in requests])
    first = sent + np.array([p for _, p, _ in requests])
    end = first + np.array([d for _, _, d in requests])
    counted = dict.fromkeys(STATES, 0)
    for second in range(sent.min(), end.max()):
        prefill = bool(((sent <= second) & (second < first)).any())
        decode = bool(((first <= second) & (second < end)).any())
        state = {(0, 0): "idle", (1, 0): "prefill_only", (0, 1): "decode_only", (1, 1): "both"}[prefill, decode]
        counted[state] += 1
    _, spent = states(sent, first, end)
    assert {state: seconds[-1] for state, seconds in spent.items()} == counted


def test_an_interval_has_blocks_of_time_as_units() -> None:
    rng = np.random.default_rng(3)
    sent = np.cumsum(rng.exponential(2, 400))
    first = sent + rng.gamma(2, 0.4, 400)
    shares = state_shares(sent, first, first + rng.gamma(2, 1, 400))
    for share in shares.values():
        assert share.low is not None and share.high is not None and share.value is not None
        assert share.low < share.value < share.high
        assert share.n is not None and share.n <= 50
    assert abs(sum(shares[s].value or 0 for s in STATES) - 1) < 1e-9
