"""What is said of the accountings, and what a faster prefill could gain."""

from math import inf

import pytest

from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings import accountings, step_time, time_split, wall_states
from analysis.findings.accountings import Accountings


def _share(id: str, value: float | None, boot: str = "b") -> Estimate:
    if value is None:
        return not_computable("1", "nothing").named(id, "f", boot=boot)
    return Estimate(value, "1", "estimate", "m", value * 0.9, value * 1.1, 0.95).named(id, "f", boot=boot)


def _at_least(value: float, boot: str = "b") -> Estimate:
    return Estimate(value, "1", "bound", "m", value, inf).named("time.mean_concurrency", "f", boot=boot)


def _counted(value: float, boot: str = "b") -> Estimate:
    return Estimate(value, "1", "census", "m").named("time.mean_concurrency", "f", boot=boot, source="clients")


REQUEST, STEP, WALL = time_split.SHARE, step_time.SHARE, wall_states.SHARE


def test_both_accountings_are_said_side_by_side() -> None:
    found = Accountings([_share(REQUEST, 0.169)], [_share(STEP, 0.41)], [], [_at_least(3.0)])
    assert found.sentence() == (
        "In b prefill is 16.9 % of request-seconds and 41 % of the engine's step time. Of all request-seconds "
        "together, decode takes most: prefill is 16.9 % [15.2, 18.6] of prefill and decode request-seconds. "
        + accountings.MIX
    )
    assert [e.id for e in found.headline()] == [REQUEST, STEP]


@pytest.mark.parametrize(
    ("concurrency", "clients", "said"),
    [
        ([_at_least(3.0)], [], "Requests overlapped (on average at least 3 at once)"),
        ([_at_least(0.4)], [], "Requests may have overlapped"),
        ([], [], "Requests may have overlapped"),
        ([_at_least(0.9)], [_counted(1.8)], "Requests may have overlapped"),
        ([_at_least(0.9)], [_counted(1.0)], None),
    ],
)
def test_request_seconds_alone_never_say_that_prefill_is_not_worth_it(
    concurrency: list[Estimate], clients: list[Estimate], said: str | None
) -> None:
    sentence = Accountings([_share(REQUEST, 0.1)], [_share(STEP, None)], [], concurrency, clients).sentence()
    assert ("does not say that a faster prefill would gain little" in sentence) == (said is not None)
    assert said is None or said in sentence
    assert "step time" not in sentence


def test_step_time_alone_is_said_as_such() -> None:
    found = Accountings([_share(REQUEST, None)], [_share(STEP, 0.41)], [], [])
    assert found.sentence().endswith("In b prefill is 41 % of the engine's step time.")


@pytest.mark.parametrize(
    ("steps", "clients", "keeps"),
    [([], [], True), ([], [_counted(1.8)], True), ([_share(STEP, 0.4)], [], False), ([], [_counted(1.0)], False)],
)
def test_what_to_do_next_never_drops_a_lever_on_overlapping_request_seconds(
    steps: list[Estimate], clients: list[Estimate], keeps: bool
) -> None:
    found = Accountings([_share(REQUEST, 0.05)], steps, [], [_at_least(3.0)], clients)
    assert ("keep both levers" in found.next_step()) == keeps
    assert "traffic mix" in found.unless()
    assert Accountings([], [], [], []).next_step().startswith("Fetch the metric page")


def _between(id: str, value: float, low: float, high: float, boot: str) -> Estimate:
    return Estimate(value, "1", "estimate", "m", low, high, 0.95).named(id, "f", boot=boot)


def test_step_time_that_shows_no_phase_is_no_disagreement_of_runs() -> None:
    request = [_between(REQUEST, 0.2, 0.04, 0.482, "a"), _between(REQUEST, 0.2, 0.1, 0.3, "b")]
    steps = [_between(STEP, 0.41, 0, 0.8, "a"), _between(STEP, 0.35, 0.1, 0.7, "b")]
    found = Accountings(request, steps, [], [])
    assert found.next_step().startswith("In neither run is a phase shown to take most of the steps' time; keep both")
    assert Accountings(request[:1], steps[:1], [], []).next_step().startswith("The run does not show a phase to take")
    other = [_between(STEP, 0.8, 0.7, 0.9, "a"), steps[1]]
    assert "they do not agree on a phase" in Accountings(request, other, [], []).next_step()


def test_the_nearest_end_is_the_one_that_is_shown() -> None:
    wide = _between(REQUEST, 0.2, 0.04, 0.482, "a")
    assert "20 % [4, 49]" in Accountings([wide], [], [], []).sentence()
    assert Accountings([wide], [], [], []).unless().endswith("comes nearest to half ends at 49 %)")
    assert Accountings([_between(REQUEST, 0.3, 0.0, 0.76, "a")], [], [], []).unless().endswith("holds half)")


def test_a_pooled_share_is_no_share_of_a_request_and_few_runs_are_given_one_by_one() -> None:
    runs = [_between(REQUEST, 0.14, 0.07, 0.25, "a"), _between(REQUEST, 0.14, 0.05, 0.3, "b")]
    said = Accountings(runs, [], [], []).sentence()
    assert said.startswith("Of all request-seconds together, decode takes most in each of 2 runs: prefill is 14 % [")
    assert " and 14 % [" in said and "a request's time" not in said and "with an interval" not in said
    bare = no_interval(0.2, "1", "m", "one page").named(REQUEST, "f", boot="c")
    assert "in each of 2 runs with an interval:" in Accountings([*runs, bare], [], [], []).sentence()
    assert "decode takes most in a:" in Accountings([runs[0], bare], [], [], []).sentence()


def test_the_chart_says_which_accountings_there_are_and_which_are_missing() -> None:
    rows = Accountings([_share(REQUEST, 0.2)], [_share(STEP, None)], [_share(WALL, 0.5)], []).rows()
    texts = accountings.describe(rows)
    assert texts["title"] == "Prefill in request-seconds, in wall clock: different questions, different answers"
    assert texts["subtitle"].endswith("nothing recorded for step time")
    table = accountings.table(rows)
    assert table["value"].to_list() == [20.0, None, 50.0]
    assert table["reason"].to_list()[1] == "not computable: nothing"
    assert accountings.describe([])["title"] == "No accounting of prefill can be made"
    assert accountings.table([]).height == 0


def test_a_range_is_no_accounting() -> None:
    span = no_interval(None, "1", "m", "r").named(step_time.RANGE, "f", boot="b")
    assert Accountings([], [span], [], []).rows() == []


def test_an_engine_with_seconds_of_its_own_kind_is_said_to_have_them() -> None:
    own = _share(REQUEST, 0.3).with_warnings(f"{time_split.OWN_KIND}: slot seconds spent on prompts")
    assert "this engine's own kind, comparable within it only." in Accountings([own], [], [], []).sentence()
    assert "own kind" not in Accountings([_share(REQUEST, 0.3)], [], [], []).sentence()


def test_traces_that_are_there_are_not_asked_for() -> None:
    shares, busy = [_share(REQUEST, 0.1, boot) for boot in "bc"], [_at_least(3.0, boot) for boot in "bc"]
    asked = Accountings(shares, [], [], busy, [_counted(3.0, "b")]).next_step()
    traced = Accountings(shares, [], [], busy, [_counted(3.0, boot) for boot in "bc"]).next_step()
    assert asked == f"{accountings.LOG_STEPS} or record request traces{accountings.KEEP_BOTH}"
    assert traced == f"{accountings.LOG_STEPS}{accountings.KEEP_BOTH}"
