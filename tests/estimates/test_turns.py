"""Whose turn it is: the verdict by worked numbers, and how often it is right on a toy engine."""

from collections import Counter
from math import inf

import numpy as np
import pytest
from scipy import stats
from simulated_engine import Client, Engine, simulate

from analysis.estimates import turns as over
from analysis.estimates.stalls import Quiet, Turn, turns


def _turn(*worth: float, prompts: tuple[float, ...] = (), start: float = 0.0, problem: str | None = None) -> Turn:
    """A turn whose stalls took a second for a thousand tokens each."""
    excess = np.array(worth) / 1000
    ends = start + np.cumsum(excess)
    return Turn(
        start, start + max(1.0, float(excess.sum())), prompts or (float(sum(worth)),), ends - excess, ends, excess,
        float(excess.max(initial=0.02)), 10, 0.02, 0.02, problem,
    )  # fmt: skip


def _quiet(n: int = 1000, stalls: int = 0, size: float = 5.0) -> Quiet:
    """Silences of 0.1 s, `stalls` of them longer by `size`."""
    excess = np.zeros(n)
    excess[:: max(1, n // stalls) if stalls else n + 1][:stalls] = size
    start = np.arange(n) * 0.1
    return Quiet(start, start + 0.1 + excess, excess, 0.1, 2.0)


def test_six_whole_turns_decide_and_five_do_not() -> None:
    six = over.judge([_turn(4000)] * 6, [_quiet()])
    assert six.verdict == "one_block"
    assert six.chance == pytest.approx(2 / 2**6)
    assert (six.block.value, six.block.low, six.block.high, six.block.kind) == (4000, 4000, inf, "bound")
    assert (six.share.value, six.share.reason) == (1, "it is the same in all 6 turns")
    five = over.judge([_turn(4000)] * 5, [_quiet()])
    assert (five.verdict, five.why) == ("cannot_tell", "5 long prompts were sent that can be used, and it takes 6")
    assert five.block.value is None


def test_interleaved_blocks_are_counted() -> None:
    """4,100 tokens in 3 stalls and 5,900 in 3, with 20 ms (20 tokens) unseen: the ends by hand."""
    found = [_turn(2000, 2000, 100)] * 3 + [_turn(2000, 2000, 1900)] * 3
    verdict = over.judge(found, [_quiet()])
    assert verdict.verdict == "interleaved"
    low = np.quantile([(4100 - 20) / 3] * 3 + [(5900 - 20) / 3] * 3, 0.9)
    high = np.quantile([4100 / 2] * 3 + [5900 / 2] * 3, 0.1)
    assert (verdict.block.low, verdict.block.high) == pytest.approx((low, high))
    assert verdict.block.value == 2000
    assert verdict.block.confidence is None


def test_a_group_of_prompts_may_end_a_block_each() -> None:
    """Two prompts of 3,000 in blocks of 2,000: three or four stalls, so L/k <= B < L/(k - 2)."""
    found = [_turn(2000, 2000, 2000, prompts=(3000.0, 3000.0))] * 6
    low, high = over.blocks_by_counting(found) or (0, 0)
    assert (low, high) == pytest.approx(((6000 - 40) / 3, 6000 / 1))


def test_the_longer_half_decides_because_short_ones_fit_into_a_block() -> None:
    short = [_turn(1500, start=i) for i in range(6)]
    long = [_turn(2000, 2000, 1000, start=10 + i) for i in range(6)]
    verdict = over.judge(short + long, [_quiet()])
    assert verdict.verdict == "interleaved"
    assert {max(t.prompts) for t in verdict.tested} == {5000}


def test_some_of_each_cannot_be_told() -> None:
    verdict = over.judge([_turn(4000)] * 4 + [_turn(2000, 2000)] * 3, [_quiet()])
    assert verdict.verdict == "cannot_tell"
    assert verdict.why.endswith("they are about one block long")
    assert verdict.chance == pytest.approx(stats.binomtest(2, 6).pvalue)  # of the longer half: two split, four whole


def test_no_stall_is_a_verdict_of_its_own() -> None:
    verdict = over.judge([_turn(prompts=(9000.0,))] * 6, [_quiet()])
    assert verdict.verdict == "no_stall"
    assert verdict.block.value is None


def test_few_turns_may_show_interleaving_when_their_stalls_never_occur_otherwise() -> None:
    found = [_turn(2000, 2000, 1000)] * 3
    rate = 10 * 1 / 1001  # ten silences in the turn, none of a thousand outside as long as a third of 2 s
    assert over.background_chance(found, [_quiet()]) == pytest.approx(rate**3)
    assert over.judge(found, [_quiet()]).verdict == "interleaved"
    noisy = [_quiet(stalls=200)]
    assert over.background_chance(found, noisy) == 1
    assert over.judge(found, noisy).verdict == "cannot_tell"
    assert over.judge(found[:2], [_quiet()]).verdict == "cannot_tell"
    assert over.judge(found, []).verdict == "cannot_tell"


def test_stalls_that_come_without_long_prompts_decide_nothing() -> None:
    quiet = _quiet(n=400, stalls=40)
    whole = [_turn(4000)] * 6
    assert over.placebo(whole, [quiet]) is not None
    verdict = over.judge(whole, [quiet])
    assert (verdict.verdict, verdict.why) == ("cannot_tell", "streams stall as long when no long prompt waits")


def test_placebo_windows_are_counted() -> None:
    """100 s of quiet in windows of 4 s; a stall of 5 s adds one window, and one has it."""
    assert over.placebo([_turn(4000)] * 6, [_quiet(n=1000)]) == (0, 25)
    assert over.placebo([_turn(4000)] * 6, [_quiet(n=1000, stalls=1)]) == (1, 26)
    assert over.placebo([_turn(4000)] * 6, []) is None
    assert over.placebo([], [_quiet()]) is None


def test_blocks_of_unequal_size_are_read_from_time() -> None:
    """Counts that contradict each other: 4,000 tokens in four stalls, and 6,000 in three."""
    split = [_turn(2000, 1000, 500, 500)] * 3 + [_turn(2200, 2000, 1800)] * 3
    assert over.blocks_by_counting(split) is None  # at least 5,980 / 3 = 1,993 and below 4,000 / 3 = 1,333
    block = over.judge(split, [_quiet()]).block
    assert (block.value, block.low, block.high) == pytest.approx((2100, 2000, 2200))
    assert "some blocks are smaller" in block.warnings[-1]


def test_overtaking_counts_only_those_sent_while_the_turn_stalled() -> None:
    turn = _turn(2000, 2000, start=10.0)  # stalls from 10 to 14, the last quarter from 13
    sent = np.array([9.0, 10.5, 11.0, 12.0, 13.5])
    first = np.array([9.5, 14.0, 12.0, 13.99, 13.6])
    found = over.overtaking([turn], sent, first)
    assert (found.value, found.n) == (1 / 3, 3)  # 12.0 is ahead; 13.99 is within 1.5 gaps of the end
    exact = stats.binomtest(1, 3).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    none = over.overtaking([turn], sent[:1], first[:1])
    assert none.reason == "not computable: no short prompt was sent while a long one had its turn"


def test_the_dose_is_the_slope_of_stall_on_turn() -> None:
    lengths = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0]
    exclusive = over.dose([_turn(length) for length in lengths])
    assert exclusive.value == pytest.approx(1)
    cut = over.dose([_turn(*[1000.0] * round(length / 1000)) for length in lengths])
    assert cut.value == pytest.approx(0)
    assert over.dose([_turn(1000.0)] * 6).value is None


POWER = [
    ("exclusive", Engine(), {}, "one_block", None),
    ("exclusive, sent early", Engine(), {"client": Client(early_s=3)}, "one_block", None),
    ("exclusive, flushed every 50 ms", Engine(), {"client": Client(flush_s=0.05)}, "one_block", None),
    ("exclusive, flushed every 300 ms", Engine(), {"client": Client(flush_s=0.3)}, "one_block", None),
    ("exclusive, one chat in four seen", Engine(), {"client": Client(seen=0.25), "chats": 8}, "one_block", None),
    ("exclusive, two at once", Engine(), {"at_once": 2}, "one_block", None),
    ("two prompts in one block", Engine(16_000), {"at_once": 2, "prompt": 7000}, "one_block", None),
    ("prompts of one block", Engine(16_000), {}, "one_block", None),
    ("prompts of 1.5 blocks", Engine(10_666), {}, "interleaved", 0.95),
    ("prompts of 2 blocks", Engine(8000), {}, "interleaved", 0.95),
    ("prompts of 3 blocks", Engine(5333), {}, "interleaved", 0.95),
    ("prompts of 8 blocks", Engine(2000), {}, "interleaved", 0.95),
    ("prompts of 30 blocks", Engine(533), {}, "interleaved", 0.95),
    ("8 blocks, two at once", Engine(2000), {"at_once": 2}, "interleaved", 0.95),
    ("alternating with decode", Engine(2048, alternate=True), {}, "interleaved", 0.95),
    ("chunked, sent early", Engine(2048), {"client": Client(early_s=3)}, "interleaved", 0.95),
    ("chunked, mixed lengths", Engine(2048), {"sigma": 0.6}, "interleaved", 0.95),
    ("chunked, one chat in four seen", Engine(2048), {"client": Client(seen=0.25), "chats": 8}, "interleaved", 0.9),
    ("chunked, flushed every 50 ms", Engine(2048), {"client": Client(flush_s=0.05)}, "interleaved", None),
    ("chunked, flushed every 300 ms", Engine(2048), {"client": Client(flush_s=0.3)}, "no_stall", None),
    ("prefill elsewhere", Engine(elsewhere=True), {}, "no_stall", None),
]
"""Name, engine, traffic, the right verdict at ten turns, how often the range must hold the block (None: not asked)."""
STUDIES = 12


@pytest.mark.parametrize(("engine", "traffic", "right", "held"), [p[1:] for p in POWER], ids=[p[0] for p in POWER])
def test_the_verdict_on_a_toy_engine(engine: Engine, traffic: dict, right: str, held: float | None) -> None:
    verdicts, hits = Counter[str](), 0
    for seed in range(STUDIES):
        found, quiet = turns(simulate(np.random.default_rng([seed, 11]), engine, turns=10, **traffic))
        verdict = over.judge(found, [quiet] if quiet else [])
        verdicts[verdict.verdict] += 1
        if held:
            hits += (verdict.block.low or inf) <= engine.budget <= (verdict.block.high or 0)
    assert verdicts[right] >= 0.9 * STUDIES, verdicts
    assert held is None or hits >= held * STUDIES - 1


def test_short_prompts_overtake_only_where_the_budget_is_shared() -> None:
    ahead: dict[bool, list[float]] = {}
    for shared in (False, True):
        for seed in range(8):
            record = simulate(np.random.default_rng([seed, 5]), Engine(2048, shared=shared), turns=10)
            short = ~record.is_long
            found = over.overtaking(turns(record)[0], record.sent_s[short], record.first_s[short])
            if found.value is not None and found.n is not None:
                ahead.setdefault(shared, []).extend([found.value] * found.n)
    assert len(ahead[False]) >= 10
    assert np.mean(ahead[False]) < 0.1
    assert np.mean(ahead[True]) > 0.8


def test_counts_that_the_time_of_the_stalls_denies_are_not_used() -> None:
    """Five stalls of 7,500 tokens count as blocks of up to 1,875, but two of them took the time of 3,000 each."""
    split = [_turn(3000, 3000, 500, 500, 500)] * 3 + [_turn(2900, 2900, 500, 500, 500)] * 3
    assert over.blocks_by_counting(split) == pytest.approx(((7500 - 20) / 5, 7300 / 4))
    block = over.judge(split, [_quiet()]).block
    assert (block.value, block.low, block.high) == pytest.approx((2950, 2900, 3000))
