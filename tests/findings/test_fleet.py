"""A fleet from its pages: who is unlike, who is set otherwise, and sums that never average ratios."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.findings import fleet
from analysis.study import Study
from tests.fleet import simulated

TIMES = np.arange(simulated.START + 30, simulated.START + 930, 30)


def _replicas(n: int, **slow: float) -> dict[str, Any]:
    return {
        f"gpu{k:02}": (TIMES, simulated.replica(k, TIMES, rate=0.5, slow=slow.get(f"gpu{k:02}", 1.0))) for k in range(n)
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Twelve replicas: one with five times the prefill, one with another block size, one idle."""
    replicas = _replicas(12, gpu07=6.0)
    times, pages = replicas["gpu03"]
    other = [[(n, i.replace('block_size="16"', 'block_size="32"'), v) for n, i, v in page] for page in pages]
    replicas["gpu03"] = (times, other)
    replicas["gpu11"] = (TIMES, simulated.replica(11, TIMES, rate=0.0))
    return Study(simulated.write_pages(tmp_path_factory.mktemp("fleet") / "twelve", replicas))


def test_the_slow_replica_is_found_and_only_it(study: Study) -> None:
    it = fleet.fleet(study.connection)
    apart = it.unlike["prefill_share"].is_unlike
    assert [name for name, out in zip(it.table["replica"], apart, strict=True) if out] == ["metrics/gpu07"]
    assert fleet.listed(it)["replica"][0] == "metrics/gpu07"
    # An idle replica has no share; it is neither zero nor unlike.
    assert it.unlike["prefill_share"].expected.n == 10


def test_the_share_of_the_fleet_is_sums_over_sums(study: Study) -> None:
    prefill, decode = (
        study.sql("select sum(total) as s from run_totals where concept = $c and statistic = 'sum'", c=concept).item()
        for concept in ("prefill_time", "decode_time")
    )
    (share,) = (e for e in fleet.figures(fleet.fleet(study.connection)) if e.id == "fleet.prefill_share")
    assert share.value == pytest.approx(prefill / (prefill + decode), rel=1e-12)
    assert share.n == 12


def test_another_setting_is_named_with_its_replica(study: Study) -> None:
    kinds = fleet.grouped_settings(fleet.fleet(study.connection))
    assert kinds.rows() == [
        (11, "the commonest", "metrics/gpu00, metrics/gpu01, metrics/gpu02, metrics/gpu04, metrics/gpu05 and 6 more"),
        (1, "vllm:cache_config_info block_size: 32 (else 16)", "metrics/gpu03"),
    ]


def test_the_sentence_says_what_stands_out(study: Study) -> None:
    it = fleet.fleet(study.connection)
    said = fleet.sentence(it, fleet.figures(it))
    assert said.startswith("12 replicas ran at one time; prefill is ")
    assert "; 1 is unlike the others in prefill share of request-seconds" in said
    assert said.endswith("they run 2 different settings.")
    assert fleet.next_step(it).endswith("metrics/gpu03 differs.")


def test_pools_come_from_the_info_metric(study: Study) -> None:
    assert fleet.fleet(study.connection).table["pool_tokens"].to_list() == [16000.0] * 12


def test_two_replicas_have_a_share_and_no_verdict(tmp_path: Path) -> None:
    it = fleet.fleet(Study(simulated.write_pages(tmp_path / "two", _replicas(2))).connection)
    said = fleet.sentence(it, fleet.figures(it))
    why = "fewer than 6 replicas cannot show which is unlike the others"
    assert f"whether one is unlike the others cannot be told ({why})" in said
    assert it.size == 2


@pytest.mark.parametrize("name", ["vllm-cpu", "llamacpp"])
def test_one_replica_at_a_time_is_no_fleet(name: str) -> None:
    it = fleet.fleet(Study(name).connection)
    found = fleet.figures(it)
    assert fleet.sentence(it, found) == "This study has one replica at a time, so there is no fleet in it to compare."
    assert fleet.next_step(it) == fleet.HOW
    assert {e.value for e in found if e.id != "fleet.replicas"} == {None}
