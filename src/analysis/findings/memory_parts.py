"""What each boot's memory went to, as far as its log says: weights, activation peak, graphs, rest, and the cache."""

from typing import Any

import duckdb
import polars as pl

from analysis.engines import version_key
from analysis.findings.frames import rows

PARTS = ("weights", "weights and other", "activation peak", "graphs", "other", "not accounted for", "KV cache")
PEAK_HOLDS_GRAPHS = [0, 27]
"""From this vLLM on, the printed peak holds the graphs' estimate too (vllm-project/vllm #57936)."""
SMALL_GIB = 0.015
"""What three figures of two decimals leave open when they are added."""


def table(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot and part: boot, arm, part, gib. Boots that print no part are not in it."""
    made: list[dict[str, Any]] = []
    for boot in rows(connection, "select * from memory_facts order by ordinal_in_study").iter_rows(named=True):
        made += [
            {"label": boot["boot"], "arm": boot["arm"], "part": part, "value": gib} for part, gib in parts(boot).items()
        ]
    texts = dict.fromkeys(("label", "arm", "part"), pl.String)
    return pl.DataFrame(made, schema=texts | {"value": pl.Float64})


def parts(boot: dict[str, Any]) -> dict[str, float]:
    """The parts of one boot (GiB) from its row of memory_facts, in the order of PARTS."""
    weights, other, graphs, peak = boot["weights_gib"], boot["non_torch_gib"], boot["graphs_gib"], boot["peak_gib"]
    found: dict[str, float | None] = {"weights": weights, "activation peak": peak, "graphs": graphs, "other": other}
    if boot["consumed_gib"] is not None:  # weights and what is not PyTorch's, measured together
        if weights is None:
            found["weights and other"] = boot["consumed_gib"]
        else:
            found["other"] = boot["consumed_gib"] - weights
        if None not in (peak, graphs) and (version_key(boot["engine_version"]) or [0]) >= PEAK_HOLDS_GRAPHS:
            found["activation peak"] = peak - graphs
    found["KV cache"] = boot["cache_gib"]
    known = {part: gib for part, gib in found.items() if gib is not None and gib > 0}
    if boot["requested_gib"] is not None and boot["cache_gib"] is not None:
        rest = boot["requested_gib"] - sum(gib for gib in found.values() if gib is not None)
        if rest > SMALL_GIB:
            known["not accounted for"] = rest
    return {part: known[part] for part in PARTS if part in known}


def describe(found: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of parts."""
    boots = found["label"].n_unique()
    said = [
        f"{label}: " + ", ".join(f"{part} {gib:.2f} GiB" for part, gib in of.select("part", "value").iter_rows())
        for (label,), of in found.group_by("label", maintain_order=True)
    ]
    return {
        "title": f"Where the memory of {boots} boots went" if said else "No boot log breaks its memory down",
        "subtitle": "GiB as printed, one bar a boot; a part that a log does not print is not in its bar",
        "description": "Memory by boot. " + "; ".join(said or ["no data"]),
    }
