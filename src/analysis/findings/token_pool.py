"""What the token pool of each boot is, by arm, and what the next boot of an arm may get.

The pool and the memory are read from the boot logs: exact for the boots that were made (census). What the next boot
gets is an estimate over boots of one population: one arm and setting, one host and state of the compile cache, memory
profiled (not pinned), and for tokens only boots that printed a pool. A refused boot still says how much memory there
was, so it counts for memory. What lies between a cold and a warm compile cache is a step, not scatter.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import duckdb
import polars as pl

from analysis.estimates import boots as over_boots
from analysis.estimates.compare import compare
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.request_cost import needs_agree
from analysis.findings import apart
from analysis.findings.evidence import of_boots
from analysis.findings.frames import rows

FINDING = "40-token-pool"
GIB = 2**30


def boots(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot with its arm, in the order of the files: what its log says about memory and pool."""
    return rows(connection, "select * from boot_arms order by ordinal_in_study")


def arms(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The arm of each boot."""
    return dict(boots(connection).select("boot", "arm").iter_rows())


def census(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.tokens, pool.available (bytes) and pool.requests_at_max_length of every boot, as its log prints them."""
    return [
        _printed(connection, boot, column, unit, facts).named(id, FINDING, boot=boot["boot"], arm=boot["arm"])
        for boot in boots(connection).iter_rows(named=True)
        for id, column, unit, facts in MEASURES
    ]


def _printed(
    connection: duckdb.DuckDBPyConnection, boot: dict[str, Any], column: str, unit: str, facts: tuple[str, ...]
) -> Estimate:
    if (value := boot[column]) is None:
        return not_computable(unit, f"the log of this boot ({boot['outcome']}) does not print it")
    return Estimate(
        float(value), unit, "census", "read from the boot log", n=1, n_of="boots",
        reason="census: what this boot's log says",
        warnings=(ROUNDED,) if unit == "bytes" else (), evidence=of_boots(connection, [boot["boot"]], facts),
    )  # fmt: skip


MEASURES = (
    ("pool.tokens", "token_pool_total_tokens", "tokens", ("token_pool", "gpu_blocks", "blocks")),
    ("pool.available", "available_kv_bytes", "bytes", ("available_kv", "pinned_kv", "refusal_available_kv")),
    ("pool.requests_at_max_length", "max_concurrency", "1", ("max_concurrency",)),
)
"""Results id, column of boot_arms, unit, and the log facts (engines/*/boot_lines.toml) that show it."""
FACTS = {column: facts for _, column, _, facts in MEASURES}
PREDICTED = (("tokens", "token_pool_total_tokens", "tokens"), ("available", "available_kv_bytes", "bytes"))
"""Measure, column and unit of what is predicted for the next boot."""
PINNED = "pinned:"
"""How the reason begins where boots have no scatter because their memory was set."""
ROUNDED = "as printed: logs round it to 0.01 GiB"


def predictions(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.spread and pool.next_boot of each population of each arm, of tokens and of available memory."""
    table, found = boots(connection), []
    for arm in table["arm"].unique(maintain_order=True):
        of_arm = table.filter(pl.col("arm") == arm)
        for population, of in _populations(of_arm):
            for measure, column, unit in PREDICTED:
                known = of.drop_nulls(column)
                qualified = {"arm": arm, "measure": measure} | ({"population": population} if population else {})
                evidence = of_boots(connection, known["boot"].to_list(), FACTS[column])
                found += [
                    e.with_evidence(*evidence).named(id, FINDING, **qualified)
                    for id, e in _of_population(known, column, unit)
                ]
    return found


def _populations(of_arm: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The boots of an arm by setting (host and compile cache are in it), named by what tells them apart."""
    parts = {of["setting"][0]: of for of in of_arm.partition_by("setting", maintain_order=True)}
    names = apart.names({setting: of.row(0, named=True) for setting, of in parts.items()})
    return [(names[setting], of) for setting, of in parts.items()]


def by_population(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, dict[str, Any]]]:
    """Each boot with its arm and the name of its population in it, in the order of arms."""
    table = boots(connection)
    return [
        (arm, population, boot)
        for arm in table["arm"].unique(maintain_order=True)
        for population, of in _populations(table.filter(pl.col("arm") == arm))
        for boot in of.iter_rows(named=True)
    ]


def _of_population(known: pl.DataFrame, column: str, unit: str) -> Iterable[tuple[str, Estimate]]:
    reason = None if known.height else "no boot of this population prints it"
    if known.height and known["kv_budget_source"][0] != "profiled":
        reason = (
            f"{PINNED} the memory was set, not profiled, in all {known.height} boots; it says nothing about scatter"
        )
    if reason is not None:
        for id, its_unit in (("pool.spread", "1"), ("pool.next_boot", unit)):
            yield id, no_interval(None, its_unit, "none", reason, n=known.height, n_of="boots")
        return
    values = known[column].to_list()
    refused = known.filter(pl.col("outcome") == "refused").height
    notes = (f"{refused} of the {known.height} boots were refused; their memory counts",) if refused else ()
    yield "pool.spread", over_boots.spread(values).with_warnings(*notes)
    yield "pool.next_boot", over_boots.next_boot(values, unit).with_warnings(*notes)


def compile_steps(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.compile_step: warm over cold compile cache, boots alike in all else; a step between two populations."""
    table, found = boots(connection), []
    alike = pl.concat_str("arm", "max_model_len_tokens", "max_num_batched_tokens", "alike", ignore_nulls=True)
    profiled = table.filter(pl.col("kv_budget_source") == "profiled")
    named = profiled.filter(pl.col("compile_state").is_in(["cold", "warm"])).with_columns(
        pl.col("population").str.replace(r" compile (cold|warm)", "").alias("alike")
    )
    for of in named.with_columns(alike.alias("alike")).partition_by("alike", maintain_order=True):
        for measure, column, _ in PREDICTED:
            cold, warm = (of.filter(pl.col("compile_state") == state).drop_nulls(column) for state in ("cold", "warm"))
            if cold.height and warm.height:
                e = compare(warm[column].to_list(), cold[column].to_list())
                reason = "one boot of each: scatter was not measured" if e.reason == "one run per arm" else e.reason
                e = replace(e, reason=reason, n_of="boots of each", warnings=(), verdict=None, sensitivity={})
                lines = of_boots(connection, [*cold["boot"], *warm["boot"]], FACTS[column])
                qualified = {"arm": of["arm"][0], "measure": measure, **_limits(of, "max_num_batched_tokens")}
                found.append(e.with_evidence(*lines).named("pool.compile_step", FINDING, **qualified))
    return found


def spread_ratios(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.spread_ratio: spread of the memory over that of the tokens, on the boots of a population that print both."""
    table, found = boots(connection), []
    columns = [column for _, column, _ in PREDICTED]
    for arm in table["arm"].unique(maintain_order=True):
        for population, of in _populations(table.filter(pl.col("arm") == arm)):
            both = of.drop_nulls(columns).filter(pl.col("kv_budget_source") == "profiled")
            if both.height > 1:
                e = over_boots.ratio_of_spreads(both["available_kv_bytes"].to_list(), both[columns[0]].to_list())
                qualified = {"arm": arm} | ({"population": population} if population else {})
                lines = of_boots(connection, both["boot"].to_list(), FACTS[columns[0]] + FACTS[columns[1]])
                found.append(e.with_evidence(*lines).named("pool.spread_ratio", FINDING, **qualified))
    return found


def identity(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.identity: one arm, length and batch size; available x length / pool must be one number over its boots.

    The value is the most over the least, less one. Where the verdict is `broken`, the memory that a log prints is not
    the memory that sized the pool, and no GiB-per-token statement holds.
    """
    table = rows(connection, "select * from kv_boots where need_bytes > 0 order by ordinal_in_study")
    first = table.unique("request_setting", keep="first", maintain_order=True)
    names = apart.names({row["request_setting"]: row for row in first.iter_rows(named=True)})
    found = []
    for of in table.partition_by("arm", "request_setting", "length_tokens", "batch_tokens", maintain_order=True):
        e = needs_agree(of["need_bytes"].to_list(), of["need_rounding_bytes"].to_list())
        qualified = {"arm": of["arm"][0], **_limits(of, "batch_tokens")}
        if names[of["request_setting"][0]]:
            qualified["setting"] = names[of["request_setting"][0]]
        lines = of_boots(connection, of["boot"].to_list(), tuple(fact for facts in FACTS.values() for fact in facts))
        found.append(e.with_evidence(*lines).named("pool.identity", FINDING, **qualified))
    return found


def _limits(of: pl.DataFrame, batch: str) -> dict[str, str]:
    """The length and batch size of boots that share them, as qualifiers."""
    length = of["length_tokens" if "length_tokens" in of.columns else "max_model_len_tokens"][0]
    limits = {"max_model_len": length, "batch_tokens": of[batch][0]}
    return {key: str(value) for key, value in limits.items() if value is not None}
