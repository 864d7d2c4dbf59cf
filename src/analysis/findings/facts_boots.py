"""What the boot logs of a study say, in the form of the hand-checked cases (tests/cases/README.md)."""

from pathlib import Path
from statistics import fmean, linear_regression, stdev
from typing import Any

import duckdb

OUTCOMES = ("served", "refused", "crashed", "unknown")
SETTING = ("engine", "engine_version", "model", "max_model_len", "kv_dtype")
"""Boots that differ in one of these, or in max_num_batched_tokens, are of different settings: no spread over them."""

Boot = dict[str, Any]


def facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """The sections boots, boots_summary and, for a sweep of max_num_batched_tokens, kv_cost; nothing without a boot."""
    relation = connection.sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
    boots = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    if not boots:
        return {}
    counted = [boot for boot in boots if boot["duplicate_of"] is None]
    sections = {"boots": boots, "boots_summary": _summary(counted)}
    cost = _kv_cost([boot for boot in counted if boot["outcome"] == "served"])
    return sections | ({"kv_cost": cost} if cost else {})


def _summary(boots: list[Boot]) -> dict[str, Any]:
    """Outcomes, and the spread of the pools of served boots when all of them are of one setting."""
    served = [boot for boot in boots if boot["outcome"] == "served" and boot["token_pool_total"] is not None]
    pools = [boot["token_pool_total"] for boot in served]
    summary: dict[str, Any] = {"boots": len(boots)}
    summary |= {outcome: sum(boot["outcome"] == outcome for boot in boots) for outcome in OUTCOMES}
    summary["served_pools"] = pools
    if len(pools) >= 2 and len({_setting(boot) for boot in served}) == 1:
        mean, deviation = fmean(pools), stdev(pools)
        summary |= {
            "pool_min": min(pools),
            "pool_max": max(pools),
            "pool_mean": round(mean, 4),
            "pool_sample_sd": round(deviation, 4),
            "pool_cv_pct": round(100 * deviation / mean, 6) if mean else None,
        }
    return summary


def _setting(boot: Boot) -> tuple[Any, ...]:
    return (*(boot[key] for key in SETTING), boot["max_num_batched_tokens"])


def _kv_cost(served: list[Boot]) -> dict[str, Any] | None:
    """Cache memory for each further batched token: least squares over boots alike in all else, and end to end.

    Memory is MiB (the printed GiB of the least rank x 1024). None when fewer than two levels, another setting that
    differs, or a budget that was pinned: a pinned one does not answer to the batch.
    """
    rows = [
        {key: boot[key] for key in ("max_num_batched_tokens", "available_kv_gib", "token_pool")}
        | {"available_kv_gib": boot["available_kv_gib_min"]}
        for boot in served
        if None not in (boot["max_num_batched_tokens"], boot["available_kv_gib_min"])
        and boot["kv_budget_source"] == "profiled"
    ]
    rows.sort(key=lambda row: row["max_num_batched_tokens"])
    levels = [row["max_num_batched_tokens"] for row in rows]
    if len(set(levels)) < 2 or len({_setting(boot)[:-1] for boot in served}) != 1:
        return None
    mib = [row["available_kv_gib"] * 1024 for row in rows]
    cost = {
        "x": "max_num_batched_tokens",
        "rows": rows,
        "ols_mib_per_batched_token": round(linear_regression(levels, mib).slope, 6),
        "endpoints_mib_per_batched_token": round((mib[-1] - mib[0]) / (levels[-1] - levels[0]), 6),
    }
    pools = [row["token_pool"] for row in rows]
    if None not in pools:
        cost["ols_pool_tokens_per_batched_token"] = round(linear_regression(levels, pools).slope, 6)
    return cost
