"""How far the boots of one setting lie apart, what a pool is in bytes, and what a refusal says of one request."""

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, no_interval
from analysis.estimates.rounding import show_number
from analysis.findings.token_pool import GIB
from analysis.findings.token_pool import boots as boots_of

FINDING = "90-takeaways"
RANGE, IN_BYTES = "pool.range", "pool.in_bytes"
ALIKE = 0.01
"""Boots agree on the memory of a token up to this share: a pool is rounded to blocks, memory to two decimals."""
MOST_NAMED = 4
NEEDED, LONGEST = "refusal.needed", "refusal.longest"
COLUMNS = {"available": "available_kv_bytes", "tokens": "token_pool_total_tokens"}


def pairs(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.range of each arm with two boots or more of one setting."""
    table = boots_of(connection).filter(pl.col("kv_budget_source") == "profiled")
    found = []
    for arm in table["arm"].unique(maintain_order=True):
        of_arm = table.filter(pl.col("arm") == arm)
        if of_arm.height > 1 and of_arm["setting"].n_unique() == 1:
            evidence = tuple(Evidence(file) for file in of_arm["file"])
            found += [e.with_evidence(*evidence).named(e.id, FINDING, arm=arm) for e in _of_arm(of_arm)]
    return found


def _of_arm(of_arm: pl.DataFrame) -> list[Estimate]:
    return [_range(of_arm[column].drop_nulls().to_list(), measure) for measure, column in COLUMNS.items()]


def _range(values: list[float], measure: str) -> Estimate:
    method = "largest less smallest, over the largest"
    if len(values) < 2 or max(values) <= 0:
        found = no_interval(None, "1", method, "fewer than two boots print it", n=len(values), n_of="boots")
    else:
        found = Estimate(
            1 - min(values) / max(values), "1", "census", method, n=len(values), n_of="boots",
            reason="census: these boots only", warnings=("a range is not a spread: more boots widen it",),
        )  # fmt: skip
    return found.named(RANGE, FINDING, measure=measure)


def in_bytes(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.in_bytes of each boot that prints a pool and no memory, by the bytes per token of boots at its limits.

    Boots that contradict each other give no value: the reason says what the pool would be by each.
    """
    table = boots_of(connection).filter(pl.col("token_pool_total_tokens") > 0)
    limits = ("max_model_len_tokens", "max_num_batched_tokens")
    others = table.drop_nulls(["available_kv_bytes", *limits])
    found = []
    for boot in table.filter(pl.col("available_kv_bytes").is_null()).drop_nulls(limits).iter_rows(named=True):
        by = others.filter(*(pl.col(column) == boot[column] for column in limits))
        if by.height:
            per_token = by["available_kv_bytes"] / by["token_pool_total_tokens"]
            pools = dict(zip(by["boot"], (per_token * boot["token_pool_total_tokens"]).to_list(), strict=True))
            evidence = (Evidence(file) for file in (boot["file"], *by["file"]))
            e = _converted(pools).with_evidence(*evidence)
            found.append(e.named(IN_BYTES, FINDING, boot=boot["boot"], arm=boot["arm"]))
    return found


def _converted(pools: dict[str, float]) -> Estimate:
    method, n = "pool x memory per token of other boots", len(pools)
    said = [f"by what {boot} prints it is {show_number(value, 'bytes', digits=4)}" for boot, value in pools.items()]
    why = ", ".join(said[:MOST_NAMED]) + (f" and {n - MOST_NAMED} more" if n > MOST_NAMED else "")
    values = list(pools.values())
    agree = max(values) - min(values) <= ALIKE * max(values)
    value = sum(values) / n if agree else None
    return no_interval(value, "bytes", method, why, n=n, n_of="other boots")


def refusals(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """refusal.needed (bytes) and refusal.longest (tokens) of each boot that was refused for memory."""
    found = []
    for boot in boots_of(connection).drop_nulls("kv_needed_gib").iter_rows(named=True):
        longest = boot["estimated_max_len_tokens"]
        for id, value, unit in ((NEEDED, boot["kv_needed_gib"] * GIB, "bytes"), (LONGEST, longest, "tokens")):
            if value is not None:
                found.append(
                    Estimate(
                        float(value), unit, "census", "read from the refusal", n=1, n_of="boots",
                        reason="census: what this boot's log says",
                        evidence=(Evidence(boot["file"], line=boot["outcome_line"]),),
                    ).named(id, FINDING, boot=boot["boot"], arm=boot["arm"])
                )  # fmt: skip
    return found
