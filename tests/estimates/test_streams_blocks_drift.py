"""Gaps of a stream, blocks of time, and drift: worked numbers, and simulated studies whose truth is known."""

import numpy as np
import pytest

from analysis.estimates import drift, streams, tails, time_blocks
from analysis.estimates.streams import StreamGaps, gaps_as_recorded, gaps_of_arrivals


@pytest.mark.parametrize(
    ("at", "cumulated", "tokens", "gaps"),
    [
        ([0, 1, 3], [1, 2, 3], 3, StreamGaps(1.5, 2.0)),
        # Two tokens in a chunk share its gap of 4: per token 1, 2, 2; the silence is still 4.
        ([0, 1, 5], [1, 2, 4], 4, StreamGaps(2.0, 4.0)),
        # Three chunks at one moment are one arrival of three tokens.
        ([0, 3, 3, 3, 4], [1, 2, 3, 4, 5], 5, StreamGaps(1.0, 3.0)),
        # Without counts a chunk is a token only if the numbers agree.
        ([0, 1, 3], None, 3, StreamGaps(1.5, 2.0)),
        ([0, 1, 3], None, 7, StreamGaps(None, 2.0)),
        ([0, 1, 3], [1, None, 3], 7, StreamGaps(None, 2.0)),
        # An empty last chunk brings no token: its gap is in the longest, not in the typical one.
        ([0, 1, 9], [1, 2, 2], 2, StreamGaps(1.0, 8.0)),
        ([0, 2, 1], [1, 2, 3], 3, streams.UNKNOWN),
        ([0, 1, 2], [3, 2, 1], 3, StreamGaps(None, 1.0)),
        ([5], [1], 1, streams.UNKNOWN),
        ([5, 5], [1, 2], 2, streams.UNKNOWN),
        ([0, float("nan")], [1, 2], 2, streams.UNKNOWN),
    ],
)
def test_gaps_of_a_stream(at: list[float], cumulated: list[int | None] | None, tokens: int, gaps: StreamGaps) -> None:
    assert gaps_of_arrivals(at, cumulated, tokens) == gaps


def test_a_chunk_counts_as_often_as_it_has_tokens() -> None:
    # Per token 4, then three times 1: the median of four.
    assert gaps_of_arrivals(np.array([0.0, 4.0, 7.0]), np.array([1.0, 2.0, 5.0]), 5) == StreamGaps(1.0, 4.0)
    assert gaps_of_arrivals([0, 4, 5], [1, 2, 3], 3) == StreamGaps(2.5, 4.0)


def test_gaps_as_a_tool_wrote_them() -> None:
    assert gaps_as_recorded([1.0, 2.0, 6.0], 4) == StreamGaps(2.0, 6.0)
    assert gaps_as_recorded([1.0, 2.0, 6.0], 9) == StreamGaps(None, 6.0)
    assert gaps_as_recorded([1.0, -2.0], 3) == streams.UNKNOWN


def test_a_visit_begins_where_the_phase_changes() -> None:
    assert time_blocks.visits([4, 1, 2, 3], ["a", "a", "b", "b"]).tolist() == [2, 0, 1, 1]
    assert time_blocks.visits([], []).tolist() == []


def test_blocks_are_a_minute_or_a_request_and_hold_five() -> None:
    start = np.arange(0, 200, 10.0)  # twenty requests over 190 s
    one = np.zeros(20, dtype=int)
    assert time_blocks.blocks(start, np.full(20, 1.0), one).tolist() == [0] * 7 + [1] * 6 + [2] * 7
    assert set(time_blocks.blocks(start, np.full(20, 90.0), one)) == {0, 1}  # no block shorter than a request
    assert set(time_blocks.blocks(start[:8] * 30, np.full(8, 1.0), one[:8])) == {0}  # eight requests: five a block
    two = np.repeat([0, 1], 10)
    assert time_blocks.blocks(start, np.full(20, 1.0), two).tolist() == [0] * 10 + [1] * 10


def _visit(rng: np.random.Generator, base: float, tau: float, start: float) -> tuple[np.ndarray, ...]:
    """A minute of four clients; all requests of a moment share a slow factor with the correlation time tau (s)."""
    phi, z = np.exp(-1 / tau), [rng.normal()]
    for _ in range(120):
        z.append(phi * z[-1] + np.sqrt(1 - phi**2) * rng.normal())
    at, ttft, length = [], [], []
    for _ in range(4):
        t = rng.uniform(0, 2)
        while t < 60:
            first = base * np.exp(0.3 * z[int(t)] + 0.4 * rng.normal())
            at.append(start + t)
            ttft.append(first)
            length.append(first + 1 + rng.exponential(6))
            t += length[-1]
    return np.array(at), np.array(ttft), np.array(length)


def test_the_interval_of_a_difference_covers_when_the_phases_alternate() -> None:
    """Ten visits a phase, one slow factor with a correlation time of a minute: the true difference of medians is 1 s.

    Blocks of a few seconds covered 0.5 to 0.8 of such studies (docs/methods.md, 11); visits as blocks cover 0.9.
    """
    rng, hits, reps = np.random.default_rng(7), 0, 150
    for _ in range(reps):
        visits = [_visit(rng, 1.0 + k % 2, 60.0, 120.0 * k) for k in range(20)]
        at, ttft, length = (np.concatenate(x) for x in zip(*visits, strict=True))
        phase = np.repeat([k % 2 for k in range(20)], [len(v[0]) for v in visits])
        visit = time_blocks.visits(at, phase)
        block = [time_blocks.blocks(at[phase == p], length[phase == p], visit[phase == p]) for p in (0, 1)]
        assert [len(set(b)) for b in block] == [10, 10]
        e = tails.quantile_difference(ttft[phase == 1], block[1], ttft[phase == 0], block[0], 0.5, "s")
        hits += e.low <= 1.0 <= e.high
    assert hits / reps >= 0.88


def test_a_drift_is_found_with_its_beginning_and_none_is_not() -> None:
    rng = np.random.default_rng(3)
    at = 60.0 * np.arange(16)
    found = [drift.drift(np.exp(0.05 * rng.normal(size=16)) * np.where(at < 600, 10, 7), at) for _ in range(20)]
    assert sum(d.p < drift.ALPHA and d.began == 10 for d in found) >= 19
    assert all(d.change.high < 1 for d in found)
    quiet = [drift.drift(10 * np.exp(0.05 * rng.normal(size=16)), at) for _ in range(200)]
    assert sum(d.p < drift.ALPHA for d in quiet) <= 18  # 10 expected; 19 and more has probability 0.005
    assert 0.91 <= np.mean([d.change.low <= 1 <= d.change.high for d in quiet]) <= 0.985


def test_the_line_of_a_drift_by_hand() -> None:
    """Rates that halve over the run: end over beginning is 1/2, whatever the noise that was added symmetrically."""
    at = np.arange(7.0)
    logs = np.log(8) - np.log(2) * at / 6 + 0.01 * np.array([1, -2, 1, 0, 1, -2, 1])  # noise orthogonal to the line
    change = drift.drift(np.exp(logs), at).change
    assert change.value == pytest.approx(0.5)
    assert (change.n, change.n_of, change.low < 0.5 < change.high) == (7, "blocks", True)


@pytest.mark.parametrize("rate", [[1.0] * 5, [1.0, 2, 3, 4, 5, 0], [1.0, 2, 3, 4, 5, float("nan")], []])
def test_no_drift_is_told_of_what_cannot_be_tested(rate: list[float]) -> None:
    found = drift.drift(rate, np.arange(len(rate)))
    assert (found.p, found.began, found.change.value) == (None, None, None)
    assert found.change.reason


def test_holm_by_hand() -> None:
    assert drift.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert drift.holm([0.9, 0.8]) == [1.0, 1.0]
    assert drift.holm([]) == []
