"""What a batch token costs: the published figures, a sweep, the recorded arms, and boots that contradict each other."""

import re
from collections.abc import Callable
from math import log

import numpy as np
import pytest
from boot_logs import boot_log
from scipy import stats

from analysis import paths
from analysis.findings import boot_risk, kv_cost, kv_tables
from analysis.findings.kv_boots import GIB, Series
from analysis.study import Study

CASES = paths.ROOT / "tests" / "cases"
WriteStudy = Callable[..., Study]


def _known(study: Study) -> boot_risk.Memory:
    return boot_risk.memory(study.connection)


def _costs(study: Study) -> dict[str, object]:
    known = _known(study)
    return {e.qualifiers["route"]: e for e in kv_cost.costs(study.connection, known.series, known.cells)}


def _several(known: boot_risk.Memory) -> Series:
    return next(s for s in known.series if len(s.levels) > 1)


def test_the_published_routes_are_those_of_the_methods(published: Study) -> None:
    known = _known(published)
    one = _several(known)
    raw = kv_cost.raw_costs(one, known.cells)
    gib = {
        route: [None if v is None else round(8192 * v / GIB, 2) for v in (e.value, e.low, e.high)]
        for route, e in raw.items()
    }
    assert gib["available"] == [3.36, -36.69, 43.41]
    assert [round(v, 1) for v in gib["requests"]] == [7.2, 6.2, 8.1]
    assert gib["two_point"] == [7.27, None, None]
    assert round((raw["two_point"].value or 0) / 1e6, 2) == 0.95  # MB for each batch token


def test_where_boots_contradict_each_other_bytes_are_withheld_and_requests_are_not(published: Study) -> None:
    known = _known(published)
    costs = _costs(published)
    for route in ("available", "requests"):
        assert (costs[route].value, costs[route].low) == (None, None)
        assert "at 8,192 batch tokens it differs by 39.8 % between 2 boots" in costs[route].reason
    assert round(8192 * costs["two_point"].value / GIB, 2) == 7.27
    assert any("mixes two configurations" in w for w in costs["two_point"].warnings)
    [lost] = kv_cost.requests_lost(published.connection, known.series)
    slope = stats.linregress([8192] * 3 + [16384], [1_110_893 / 768e3, 1_085_106 / 768e3, 1_110_255 / 768e3, 6.9 / 9.8])
    reach = stats.t.ppf(0.975, 2) * slope.stderr
    assert (lost.value, lost.low, lost.high) == pytest.approx(
        (-slope.slope, -slope.slope - reach, -slope.slope + reach)
    )
    assert [round(8192 * 9.8 * v, 1) for v in (lost.value, lost.low, lost.high)] == [7.2, 6.2, 8.1]


def test_each_believed_boot_splits_the_same_sum_into_its_two_costs(published: Study) -> None:
    known = _known(published)
    by_boot = {s.believed: s for s in kv_cost.steps(_several(known), known.cells)}
    assert set(by_boot) == {"a", "b"}
    a, b = by_boot["a"], by_boot["b"]
    assert [round(v / GIB, 2) for v in (a.memory_taken, a.need_grown, a.need[0])] == [5.18, 1.45, 8.35]
    assert [round(v / GIB, 2) for v in (b.memory_taken, b.need[0])] == [1.54, 5.97]
    # The pool at 8192 taken at the need at 16384, less the memory there: the sum, whichever boot is believed.
    assert (a.memory_taken + a.by_need) / GIB == pytest.approx(1_110_893 * 9.8 / 768_000 - 6.9, abs=1e-6)
    assert (b.memory_taken + b.by_need) / GIB == pytest.approx(1_085_106 * 9.8 / 768_000 - 6.9, abs=1e-6)
    assert a.share_by_need == pytest.approx(
        log(9.8 / (12.08 * 768_000 / 1_110_893)) / log(1_110_893 / 768_000 * 9.8 / 6.9)
    )
    assert a.token_figure_shows == "both: 78 % memory taken, 22 % growth of each request"
    assert kv_cost.two_costs(published.connection, [a, b], known.cells) == []
    sentence, _ = kv_tables.headline(list(_costs(published).values()), [a, b])
    assert "cannot be said (1.54 to 5.18 GiB, depending on which boot you trust)" in sentence


def test_one_believed_boot_without_a_contradiction_is_a_result(write_study: WriteStudy) -> None:
    study = write_study(
        {
            "a": boot_log(768_000, 8192, "12.08", 1_110_893),
            "d": boot_log(768_000, 16384, "6.9", None, ("9.8", "6.9", 35_072)),
        }
    )
    known = _known(study)
    [step] = kv_cost.steps(_several(known), known.cells)
    taken, grown = kv_cost.two_costs(study.connection, [step], known.cells)
    assert (round(taken.value / GIB, 2), taken.reason) == (5.18, "one boot at a level")
    assert (round(grown.value / GIB, 2), grown.kind) == (1.45, "bound")
    assert _costs(study)["available"].reason == "one boot per level"


def test_a_sweep_of_a_model_with_one_kind_of_layer_takes_memory_only(write_study: WriteStudy) -> None:
    del write_study
    study = Study(CASES / "kv-cost-sweep")
    known = _known(study)
    costs = _costs(study)
    assert costs["available"].value / 2**20 == pytest.approx(0.088688, abs=5e-7)  # the hand-checked case
    assert costs["available"].reason == "one boot per level"
    made = kv_cost.steps(_several(known), known.cells)
    assert len(made) == 6
    assert {s.token_figure_shows for s in made} == {"memory taken from the cache"}


def _recorded() -> dict[str, tuple[int, int, float, int]]:
    """Boots of the recorded study as their logs say: length, batch, GiB and pool; read without the store."""
    found = {}
    for file in sorted((paths.DATA / "vllm-cpu" / "boots").glob("*.log")):
        text = file.read_text(errors="replace")
        gib, pool = (
            re.search(r"(?:Auto|Explicitly) set \(([\d.]+)/", text),
            re.search(r"cache size: ([\d,]+) tokens", text),
        )
        if gib and pool and "'gpu_memory_utilization': 0.25" in text:
            length, batch = (
                int(re.search(rf"'{n}': (\d+)", text)[1]) for n in ("max_model_len", "max_num_batched_tokens")
            )
            found[file.stem] = (length, batch, float(gib[1]), int(pool[1].replace(",", "")))
    return found


def test_the_recorded_arms_give_the_slope_of_an_independent_calculation() -> None:
    boots = [b for b in _recorded().values() if b[0] == 8192]
    assert len(boots) == 7
    batch, gib = np.array([b[1] for b in boots]), np.array([b[2] for b in boots])
    design = np.column_stack([np.ones(7), batch])
    beta, squares, *_ = np.linalg.lstsq(design, gib, rcond=None)
    se = np.sqrt(squares[0] / 5 * np.linalg.inv(design.T @ design)[1, 1])
    cost = _costs(Study("vllm-cpu"))["available"]
    ends = [-beta[1] - stats.t.ppf(0.975, 5) * se, -beta[1] + stats.t.ppf(0.975, 5) * se]
    assert (cost.value, cost.low, cost.high) == pytest.approx((-beta[1] * GIB, ends[0] * GIB, ends[1] * GIB))
    assert cost.low < 0 < cost.high  # no memory was taken, and the interval says so


@pytest.mark.parametrize(("name", "lower", "pool"), [("vllm-cpu", 2048, 518), ("vllm-cpu-mixed", 512, 827)])
def test_the_recorded_pools_fall_because_requests_grow(name: str, lower: int, pool: int) -> None:
    known = _known(Study(name))
    [step] = [s for one in known.series for s in kv_cost.steps(one, known.cells)]
    assert (step.lower, step.higher) == (lower, 8192)
    assert step.token_figure_shows == "growth of each request; no memory was taken from the cache's budget"
    assert abs(step.memory_taken) < 0.06 * GIB
    # Three full layers of 3,072 B a token; five groups of three sliding layers, in blocks of 128 tokens and one over.
    blocks = {n: 64 + 5 * (-(-min(511 + n, 8192) // 128) + 1) for n in (lower, 8192)}
    for need, n in zip(step.need, (lower, 8192), strict=True):
        assert need == pytest.approx(blocks[n] * 128 * 3072, rel=0.002)
    assert round(step.series.at(lower)[0].token_pool_tokens / 1000) == pool


@pytest.mark.parametrize(
    ("logs", "missing"),
    [
        (
            {"a": boot_log(8192, 2048, "4.0", 60_000)},
            "every boot has 2,048 batch tokens: boots at a second level are missing",
        ),
        ({"a": boot_log(8192, None, "4.0", 60_000)}, "no boot log prints its max_num_batched_tokens with memory"),
        (
            {"a": boot_log(8192, 2048, "4.0", 60_000), "b": boot_log(4096, 512, "4.0", 60_000)},
            "no two boots differ in their batch tokens alone",
        ),
    ],
)
def test_what_is_missing_is_said(write_study: WriteStudy, logs: dict[str, str], missing: str) -> None:
    costs = _costs(write_study(logs))
    assert {e.value for e in costs.values()} == {None}
    assert all(e.reason.startswith(f"not computable: {missing}") for e in costs.values())
    sentence, _ = kv_tables.headline(list(costs.values()), [])
    assert sentence.startswith(f"What a batch token costs cannot be said: {missing}")
