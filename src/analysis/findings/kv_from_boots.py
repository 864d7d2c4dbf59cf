"""Memory left for the cache halfway between two levels of batch tokens: a straight line over boots."""

import duckdb

from analysis.estimates import kv_slope
from analysis.estimates.estimate import Estimate, Evidence
from analysis.findings.token_pool import boots as boots_of

FINDING = "90-takeaways"
PREDICTED = "kv.predicted_available"


def predictions(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """kv.predicted_available of each length whose boots print their memory at two levels or more."""
    table = boots_of(connection).drop_nulls(["available_kv_bytes", "max_num_batched_tokens", "max_model_len_tokens"])
    found: list[Estimate] = []
    for (length,), boots in table.group_by("max_model_len_tokens", maintain_order=True):
        level, available = boots["max_num_batched_tokens"], boots["available_kv_bytes"]
        if level.n_unique() < 2:
            continue
        half = (float(level.min()) + float(level.max())) / 2  # type: ignore[arg-type]
        predicted = kv_slope.predict(level.to_numpy(), available.to_numpy(), half, "bytes")
        names = {"max_model_len": str(length), "batch_tokens": f"{half:.0f}"}
        evidence = (Evidence(file) for file in boots["file"])
        found.append(predicted.with_evidence(*evidence).named(PREDICTED, FINDING, **names))
    return found
