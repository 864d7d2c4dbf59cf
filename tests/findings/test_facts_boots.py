"""The hand-checked cases, and the rules for spread and cost that no case holds."""

import json
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings import facts_boots
from analysis.store.load import load

CASES = Path(__file__).parents[1] / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if (path / "boots").is_dir())
NOT_COMPARED = {"notes", "file", "available_kv_by_engine"}
BOOT = (
    "(APIServer pid=1) INFO 11-03 10:00:01 [api_server.py:1772] vLLM API server version 0.25.1\n"
    "(APIServer pid=1) INFO 11-03 10:00:09 [scheduler.py:239] Chunked prefill is enabled with "
    "max_num_batched_tokens={batch}.\n"
    "(EngineCore pid=7) INFO 11-03 10:01:02 [gpu_worker.py:470] Available KV cache memory: {gib} GiB\n"
    "(EngineCore pid=7) INFO 11-03 10:01:02 [kv_cache_utils.py:1755] GPU KV cache size: {pool} tokens\n"
    "INFO:     Application startup complete.\n"
)


def facts_of(data: Path, tmp_path: Path) -> dict[str, Any]:
    database = tmp_path / "study.duckdb"
    load(data, database)
    with duckdb.connect(str(database), read_only=True) as connection:
        return facts_boots.facts(connection)


def agree(want: Any, got: Any) -> bool:
    if isinstance(want, float) and isinstance(got, int | float):
        return math.isclose(want, got, rel_tol=1e-6, abs_tol=1e-9)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(agree, want, got))
    return bool(want == got)


@pytest.mark.parametrize("name", NAMES)
def test_a_case_comes_out_as_checked_by_hand(name: str, tmp_path: Path) -> None:
    want = json.loads((CASES / name / "expected.json").read_text())
    got = facts_of(CASES / name, tmp_path)
    assert [boot["id"] for boot in got["boots"]] == [boot["id"] for boot in want["boots"]]
    for wanted, boot in zip(want["boots"], got["boots"], strict=True):
        for key in wanted.keys() - NOT_COMPARED:
            assert agree(wanted[key], boot[key]), (boot["id"], key, wanted[key], boot[key])
    for section in ("boots_summary", "kv_cost"):
        for key in want.get(section, {}).keys() & got.get(section, {}).keys():
            expected, found = want[section][key], got[section][key]
            rows = expected if isinstance(expected, list) else [expected]
            for one, other in zip(rows, found if isinstance(found, list) else [found], strict=True):
                if isinstance(one, dict):
                    assert all(agree(one[k], other[k]) for k in one), (section, key)
                else:
                    assert agree(one, other), (section, key, one, other)
    assert ("kv_cost" in want) == ("kv_cost" in got)


def test_no_spread_is_given_over_two_settings(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    for name, batch, pool in (("a", 2048, 1600), ("b", 4096, 800)):
        (tmp_path / "s" / f"{name}.log").write_text(BOOT.format(batch=batch, gib=2.5, pool=pool))
    summary = facts_of(tmp_path / "s", tmp_path)["boots_summary"]
    assert summary["served_pools"] == [1600, 800]
    assert "pool_mean" not in summary


def test_a_copy_of_a_log_is_not_counted_again(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    for name in ("a", "copy"):
        (tmp_path / "s" / f"{name}.log").write_text(BOOT.format(batch=2048, gib=2.5, pool=1600))
    found = facts_of(tmp_path / "s", tmp_path)
    assert [boot["duplicate_of"] for boot in found["boots"]] == [None, "a"]
    assert found["boots_summary"]["served_pools"] == [1600]


def test_a_cost_needs_two_levels_and_a_budget_that_was_profiled(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    pinned = BOOT.replace(
        "Available KV cache memory: {gib} GiB", "Explicitly set ({gib}/15.8) GiB for KV cache on node 0."
    )
    (tmp_path / "s" / "a.log").write_text(pinned.format(batch=2048, gib=2.5, pool=1600))
    (tmp_path / "s" / "b.log").write_text(BOOT.format(batch=4096, gib=2.25, pool=1440))
    assert "kv_cost" not in facts_of(tmp_path / "s", tmp_path)
    (tmp_path / "s" / "c.log").write_text(BOOT.format(batch=8192, gib=1.75, pool=1120))
    cost = facts_of(tmp_path / "s", tmp_path)["kv_cost"]
    assert cost["ols_mib_per_batched_token"] == -0.125
    assert cost["endpoints_mib_per_batched_token"] == -0.125
    assert cost["ols_pool_tokens_per_batched_token"] == -0.078125
