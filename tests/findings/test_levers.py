"""What each lever could give: bounds only where requests never overlap, and nobody is told to drop the prefill."""

from dataclasses import replace
from math import inf

import polars as pl
import pytest

from analysis.estimates.amdahl import LOWER_END
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings import held, lengths, lever_shares, levers, time_split
from analysis.findings.accountings import Accountings
from analysis.findings.time_split import Run

REQUEST = time_split.SHARE
SEQUENTIAL = [Estimate(1.0, "1", "census", "m").named("time.mean_concurrency", "f", boot="b", source="clients")]
COMPLETE = [Estimate(2.5, "1", "census", "m").named("time.mean_concurrency", "f", boot="b", source="clients")]
BUSY = [Estimate(3.0, "1", "bound", "m", 3.0, inf).named("time.mean_concurrency", "f", boot="b")]
PROMPTS = {("request_prompt_tokens", "sum", None): 8000.0, ("request_prompt_tokens", "count", None): 20.0}


def _share(value: float, low: float, high: float, id: str = REQUEST) -> Estimate:
    return Estimate(value, "1", "estimate", "m", low, high, 0.95, 10, "blocks").named(id, "f", boot="b")


def _lengths(outputs: list[float]) -> list[lengths.Lengths]:
    return [lengths.Lengths("b", {"boot": "b"}, pl.DataFrame({"output_tokens": outputs}), "-", "-", ())]


def _found(known: Accountings, outputs: tuple[float, ...] = (11, 21, 101)) -> dict[tuple[str, str], Estimate]:
    buckets: dict[str, Buckets] = {}
    found = levers.levers(known, [Run("b", "b", PROMPTS, buckets)], _lengths(list(outputs)))
    return {(e.qualifiers["lever"], e.qualifiers.get("to", "")): e for e in found}


def test_one_request_at_a_time_makes_a_free_prefill_a_bound() -> None:
    found = _found(Accountings([_share(0.2, 0.1, 0.3)], [], [], [], SEQUENTIAL))
    free, cached = found["prefill", ""], found["prefix_cache", ""]
    assert (free.kind, free.value, free.low, free.high) == (
        "bound",
        1.25,
        pytest.approx(1 / 0.9),
        pytest.approx(1 / 0.7),
    )
    # 400 tokens a prompt, of which one is computed whatever the cache holds.
    assert (cached.kind, cached.value) == ("bound", pytest.approx(1 / (0.8 + 0.2 / 400)))
    half, median = found["output_tokens", "half"], found["output_tokens", "median"]
    assert (half.value, half.low, half.high) == (
        pytest.approx(1 / 0.6),
        pytest.approx(1 / 0.65),
        pytest.approx(1 / 0.55),
    )
    # Steps of 10, 20 and 100 cut to 10, 20 and 20: 130 of 50.
    assert median.value == pytest.approx(1 / (0.2 + 0.8 / 2.6))
    assert half.kind == median.kind == "estimate"
    assert (half.reason or "").startswith("not a bound") and "overlap" not in (half.reason or "")


def test_overlapping_requests_have_a_first_order_figure_where_it_is_known_what_prefill_holds() -> None:
    own = Estimate(0.45, "1", "estimate", "m", 0.3, 0.6, 0.95).named(held.HELD, "f", boot="b")
    found = _found(Accountings([_share(0.2, 0.1, 0.3)], [], [], BUSY, COMPLETE, [own]))
    free = found["prefill", ""]
    assert (free.kind, free.value) == ("estimate", pytest.approx(1 / 0.55))
    assert (free.low, free.high) == (pytest.approx(1 / 0.7), pytest.approx(1 / 0.4))
    assert free.reason == "not a bound: requests overlap (mean concurrency 3.00); first order"


def test_traces_of_a_part_of_the_requests_are_not_used() -> None:
    own = Estimate(0.45, "1", "estimate", "m", 0.3, 0.6, 0.95).named(held.HELD, "f", boot="b")
    free = _found(Accountings([_share(0.2, 0.1, 0.3)], [], [], BUSY, [], [own]))["prefill", ""]
    assert (free.value, free.low, free.high) == (None, pytest.approx(1 / 0.9), inf)
    why = "not a bound: requests overlap (mean concurrency 3.00), and what they wait for each other's is not known"
    assert free.reason == why


@pytest.mark.parametrize("value", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("concurrency", [BUSY, []])
def test_request_seconds_alone_never_tell_anybody_to_drop_the_prefill_side(
    value: float, concurrency: list[Estimate]
) -> None:
    found = list(_found(Accountings([_share(value, value / 2, min(2 * value, 0.95))], [], [], concurrency)).values())
    said = f"{levers.sentence(found)} {levers.next_step(found)}"
    assert said.startswith("Which change would give most is not known yet: requests overlap, or may, and their waiting")
    assert levers.next_step(found) == "Log engine steps or record request traces before either side is dropped."
    assert "prefill side gives less" not in said and "no prefill-side lever" not in said
    assert "step time" in levers.unless(found)


def test_what_to_do_follows_the_ranges() -> None:
    def said(low: float, high: float, share: Estimate) -> str:
        own = Estimate((low + high) / 2, "1", "estimate", "m", low, high, 0.95).named(held.HELD, "f", boot="b")
        return levers.next_step(list(_found(Accountings([share], [], [], BUSY, COMPLETE, [own])).values()))

    assert said(0.01, 0.02, _share(0.05, 0.04, 0.06)).endswith("keep the prefill side: no bound is known.")
    assert said(0.8, 0.9, _share(0.6, 0.5, 0.7)).startswith("Work on the prefill side first")
    assert said(0.3, 0.6, _share(0.2, 0.1, 0.3)) == levers.TRY_BOTH
    bound = list(_found(Accountings([_share(0.05, 0.04, 0.06)], [], [], [], SEQUENTIAL)).values())
    assert levers.next_step(bound).endswith("no prefill-side lever can give as much.")
    assert "at most 1.053x [1.041, 1.064] as fast" in levers.sentence(bound)


def test_few_runs_are_given_one_by_one_and_a_lower_end_of_one_is_no_limit() -> None:
    def of(boot: str, *ends: float, **names: str) -> Estimate:
        e = Estimate(ends[0], "x", "estimate", "m", ends[1], ends[2], 0.95)
        return e.named(levers.LEVER, "f", boot=boot, **names)

    found = [
        of("a", 1.8, 1.21, 4.09, lever="prefill"), of("a", 1.75, 1.6, 1.9, lever="output_tokens", to="half"),
        of("b", 1.7, 1.2, 3.4, lever="prefill"), of("b", 1.7, 1.5, 1.9, lever="output_tokens", to="half"),
    ]  # fmt: skip
    said = levers.sentence(found)
    assert said == (
        "Neither lever, answers or prefill, is shown to be the larger one: with half the output tokens, requests' own "
        "prefill and decode would together be 1.75x [1.60, 1.90] and 1.70x [1.50, 1.90] as fast; a free prefill is "
        "worth 1.8x [1.2, 4.1] and 1.7x [1.2, 3.4] to first order, not a bound: requests overlap."
    )
    nothing = no_interval(None, "x", LOWER_END, "not a bound")
    open_ = replace(nothing, low=1.001, high=inf).named(levers.LEVER, "f", boot="a", lever="prefill")
    assert levers.table([open_])["times as fast"].to_list() == ["no useful limit"]
    assert open_ not in levers.headline([open_, found[1]])


def test_which_share_a_free_prefill_works_on_is_said_with_both_figures() -> None:
    own = Estimate(0.53, "1", "estimate", "m", 0.24, 0.81, 0.95).named(held.HELD, "f", boot="b")
    known = Accountings([_share(0.14, 0.07, 0.25)], [], [], BUSY, COMPLETE, [own])
    found = list(_found(known).values())
    apart = lever_shares.of(known, found)
    assert apart == {"b": (own, known.request[0])}
    works_on = (
        "A free prefill works on the 53 % [24, 81] of request time that some prefill holds, not on the prefill share "
        "of 14 % [7, 25], which is requests' own prefill alone: a decode that waits for another request's prompt would "
        "be spared too."
    )
    assert lever_shares.sentence(apart) == works_on
    assert levers.sentence(found, works_on).endswith(
        f"[1.3, 5.3] to first order, not a bound: requests overlap. {works_on}"
    )
    of = _found(known)
    free, half = of["prefill", ""], of["output_tokens", "half"]
    assert lever_shares.headline(found, apart) == [free, own, known.request[0], half]
    assert free.value == 1 / (1 - 0.53)


@pytest.mark.parametrize("known", [
    Accountings([_share(0.2, 0.1, 0.3)], [], [], [], SEQUENTIAL), Accountings([_share(0.2, 0.1, 0.3)], [], [], BUSY),
])  # fmt: skip
def test_a_bound_and_a_lower_end_are_made_of_the_prefill_share(known: Accountings) -> None:
    found = list(_found(known).values())
    assert (lever_shares.of(known, found), lever_shares.sentence({})) == ({}, "")
    assert lever_shares.headline(found, {}) == levers.headline(found)


def test_what_is_missing_is_named() -> None:
    nothing = [not_computable("1", "nothing").named(REQUEST, "f", boot="b")]
    found = list(_found(Accountings(nothing, [], [], [])).values())
    assert {e.reason for e in found} == {"not computable: nothing"}
    assert levers.sentence(found).startswith("Which change would give most cannot be said")
    assert levers.headline(found) == []
    assert levers.drawn(found).height == 0
    assert levers.describe(found)["title"].startswith("No lever can be weighed")
    bare = levers.levers(Accountings([_share(0.2, 0.1, 0.3)], [], [], BUSY), [], [])
    reasons = {(e.qualifiers["lever"], e.qualifiers.get("to")): e.reason for e in bare}
    assert reasons["prefix_cache", None] == "the pages do not export the prompts' lengths"
    assert reasons["output_tokens", "median"] == "no client recorded the lengths of its answers"
    assert levers.next_step([]) and levers.sentence([])


def test_the_chart_is_in_time_saved_and_unlimited_is_all_of_it() -> None:
    own = Estimate(0.5, "1", "estimate", "m", 0.25, 1.0, 0.95).named(held.HELD, "f", boot="b")
    found = list(_found(Accountings([_share(0.2, 0.1, 0.3)], [], [], BUSY, COMPLETE, [own])).values())
    rows = {r["group"]: r for r in levers.drawn(found).iter_rows(named=True)}
    free = rows["free prefill"]
    assert (free["value"], free["low"], free["high"]) == (pytest.approx(50), pytest.approx(25), pytest.approx(100))
    assert levers.table(found)["what it is"].str.starts_with("not a bound").all()


@pytest.mark.parametrize(
    ("outputs", "factor"), [([], None), ([1, 1, 1], None), ([5, 5, 5], 1.0), ([3, 5, 100], 105 / 10)]
)
def test_the_cut_to_the_median(outputs: list[float], factor: float | None) -> None:
    got = levers.median_cut(pl.DataFrame({"output_tokens": outputs}, {"output_tokens": pl.Float64}))
    assert got == (None if factor is None else pytest.approx(factor))


def test_the_chart_without_a_known_prefill_says_so() -> None:
    found = list(_found(Accountings([_share(0.05, 0.04, 0.06)], [], [], BUSY)).values())
    title = "What a free prefill would save is not known: requests overlap, or may overlap"
    assert levers.describe(found)["title"] == title
    rows = {r["group"]: r for r in levers.drawn(found).iter_rows(named=True)}
    assert rows["free prefill"]["value"] is None
    assert (rows["free prefill"]["low"], rows["free prefill"]["high"]) == (pytest.approx(4), 100)
    assert "free prefill: 1.04x or more" in levers.describe(found)["description"]
