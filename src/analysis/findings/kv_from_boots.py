"""Memory of the cache against batch tokens, and what one refusal says of a request: straight lines over boots."""

from collections.abc import Iterable
from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates import kv_slope
from analysis.estimates.estimate import Estimate, Evidence
from analysis.estimates.request_cost import request_cost
from analysis.findings.token_pool import GIB
from analysis.findings.token_pool import boots as boots_of

FINDING = "90-takeaways"
COST, PREDICTED = "kv.cost_per_batch_token", "kv.predicted_available"
FIXED, PER_TOKEN = "kv.request_fixed", "kv.request_per_token"
ROUNDING_BYTES = 0.005 * GIB


def costs(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """kv.cost_per_batch_token and, halfway between levels, kv.predicted_available, of each length with two levels."""
    table = boots_of(connection).drop_nulls(["available_kv_bytes", "max_num_batched_tokens", "max_model_len_tokens"])
    found: list[Estimate] = []
    for (length,), boots in table.group_by("max_model_len_tokens", maintain_order=True):
        level, available = boots["max_num_batched_tokens"], boots["available_kv_bytes"]
        if level.n_unique() < 2:
            continue
        evidence = tuple(Evidence(file) for file in boots["file"])
        half = (float(level.min()) + float(level.max())) / 2  # type: ignore[arg-type]
        names = {"max_model_len": str(length)}
        cost = _negative(kv_slope.slope(level.to_numpy(), available.to_numpy(), "bytes/token"))
        predicted = kv_slope.predict(level.to_numpy(), available.to_numpy(), half, "bytes")
        found.append(cost.with_evidence(*evidence).named(COST, FINDING, **names, route="available"))
        found.append(predicted.with_evidence(*evidence).named(PREDICTED, FINDING, **names, batch_tokens=f"{half:.0f}"))
    return found


def _negative(slope: Estimate) -> Estimate:
    """What is lost for each token, from what is left."""
    ends = (None if end is None else -end for end in (slope.value, slope.high, slope.low))
    value, low, high = ends
    return replace(slope, value=value, low=low, high=high)


def requests(connection: duckdb.DuckDBPyConnection) -> Iterable[Estimate]:
    """kv.request_fixed and kv.request_per_token from each refusal that estimates a longest length."""
    refused = boots_of(connection).drop_nulls(["kv_needed_gib", "available_kv_gib_min", "estimated_max_len_tokens"])
    for boot in refused.filter(pl.col("max_model_len_tokens").is_not_null()).iter_rows(named=True):
        fixed, each = request_cost(
            boot["max_model_len_tokens"], boot["kv_needed_gib"] * GIB, boot["available_kv_gib_min"] * GIB,
            boot["estimated_max_len_tokens"], ROUNDING_BYTES,
        )  # fmt: skip
        for id, estimate in ((FIXED, fixed), (PER_TOKEN, each)):
            yield estimate.with_evidence(Evidence(boot["file"], line=boot["outcome_line"])).named(
                id, FINDING, boot=boot["boot"], source="refusal"
            )
