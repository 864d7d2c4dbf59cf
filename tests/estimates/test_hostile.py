"""Whatever arrives, the answer is an Estimate with an interval of some width, or the reason that there is none."""

import json
from math import inf, isfinite, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.estimates import (
    boots,
    compare,
    kv_slope,
    prefix_hits,
    quantile_values,
    rates,
    ratio_requests,
    request_cost,
    share_edge,
    tails,
)  # fmt: skip
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.prefill_rate import prefill_rate, window_rates
from analysis.estimates.quantile_buckets import quantile
from analysis.estimates.ratio_page import share_of_sums
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes
from analysis.estimates.rounding import show
from analysis.estimates.step_time import step_share
from analysis.estimates.steps_share import steps_share_at_most
from analysis.estimates.trace_step_time import step_share_from_traces
from analysis.estimates.wall_states import clients_at_once, state_shares

NUMBERS = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, 1.0, -1.0, nan, inf, -inf, 1e308, 5e-324]), st.floats(0, 1e6)), max_size=30
)
PAIRS = st.integers(0, 30).flatmap(lambda n: st.tuples(*(st.lists(st.floats(0, 100), min_size=n, max_size=n),) * 2))


def check(*estimates: Estimate) -> None:
    for e in estimates:
        # Bounds may meet: where no prompt has a middle chunk, the recorded steps are all there were.
        wide = e.low is None or e.high is None or e.low < e.high or (e.kind == "bound" and e.low == e.high)
        assert wide, "an interval without width"
        assert e.low is None or e.value is None or e.low <= e.value * (1 + 1e-9) + 1e-9
        assert show(e)
        json.dumps(e.to_json(), allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(NUMBERS, NUMBERS)
def test_anything(a: list[float], b: list[float]) -> None:
    with np.errstate(all="ignore"):
        check(
            boots.spread(a), boots.next_boot(a, "tokens"), boots.seen_range([*a, 1.0, 2.0], "s"),
            boots.ratio_of_spreads(a, b), boots.pooled_spread([a, b]), compare.compare(a, b),
            compare.compare(a, b, paired=True), compare.scatter_if_equal(a), *compare.against_base(a, [b, a]),
            kv_slope.slope(a, b, "GiB"), kv_slope.refusal_probability(a, b, 5, 6), request_cost.pool_identity(a, b),
            prefix_hits.hit_share_from_requests(a, b), quantile_values.quantile(a, 0.5, "s"),
            rates.rate_per_hour(a, 0, 100), rates.rate_of_runs(a, b), *rates.goodput(a, b), rates.energy_per_task(a, b),
            ratio_requests.share_of_requests(a, b), ratio_requests.ratio_of_requests(a, b, "x"),
            tails.quantile_of_blocked(a, b, 0.5, "s"),
            share_from_scrapes(Windows.of(a, b, a, b, a)), *step_share(a, b, a), *step_share(a, a, b, b),
            *state_shares(a, b, a).values(), *state_shares(a, a, b).values(), clients_at_once(a, b),
            step_share_from_traces(a, a, b, a, b), prefill_rate(Windows.of(a, b, a, b, a), 3.0, 4.0),
            *window_rates(Windows.of(a, b, a, b, a)),
        )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_anything_of_equal_length(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair
    start = np.arange(len(a)) * 15.0
    check(
        ratio_requests.share_of_requests(a, b), compare.compare(a, b, paired=True), kv_slope.slope(a, b, "GiB"),
        kv_slope.predict(a, b, 3, "GiB"), share_from_scrapes(Windows.of(start, start + 15, a, np.add(a, b), b)),
        *step_share(a, np.round(b), np.round(a)), *state_shares(a, np.add(a, b), np.add(a, b) * 2).values(),
        clients_at_once(a, np.add(a, b)), prefill_rate(Windows.of(start, start + 15, a, b, b), 3.0, 4.0),
        step_share_from_traces(start, start + b, start + np.add(a, b), start, start + a),
        *window_rates(Windows.of(start, start + 15, a, b, b)),
        ratio_requests.ratio_of_requests(a, b, "tokens/s"), boots.ratio_of_spreads(a, b),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.floats(0, 1e4), st.floats(0, 1e4))
def test_any_histogram(counts: list[int], first: float, second: float) -> None:
    edges, cumulative = [1.0, 2.0, 5.0, inf], np.cumsum(counts)
    x, y = (Buckets.from_cumulative(edges, cumulative, total) for total in (first, second))
    page = share_of_sums(x, y)
    if page.bound.low is not None:
        assert page.bound.low <= page.estimate.low
        assert page.bound.high >= page.estimate.high
    check(
        *page, quantile(x, 0.9, "s"), share_edge.share_at_most(x, 1.5),
        *steps_share_at_most(x, 2, 40, y, 3.0), prefix_hits.hit_share(1.0, 7.0, x),
    )  # fmt: skip


def test_an_estimate_refuses_to_be_silent() -> None:
    with pytest.raises(ValueError, match="needs an interval"):
        Estimate(1.0, "1", "estimate", "test")
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate(None, "1", "census", "test")
    got = not_computable("s", "ttft").named("a.b", "f", arm="x").with_evidence(Evidence("m.prom", 3)).with_warnings("w")
    row = got.to_json()
    assert (row["id"], row["qualifiers"], row["evidence"]) == ("a.b", {"arm": "x"}, [{"file": "m.prom", "line": 3}])
    open_end = Estimate(1.0, "s", "estimate", "test", 0.5, inf, 0.95).to_json()
    assert (open_end["high"], open_end["warnings"]) == (None, ["no upper limit"])
    assert isfinite(open_end["low"])
