"""What the token pool of each boot is, by arm, and what the next boot of an arm may get.

The pool and the memory are read from the boot logs: exact for the boots that were made (census). What the next boot
gets is an estimate over boots of one population: one arm, memory profiled (not pinned), and for tokens only boots that
printed a pool. A refused boot still says how much memory there was, so it counts for memory.
"""

from collections.abc import Iterable
from typing import Any

import duckdb
import polars as pl

from analysis.estimates import boots as over_boots
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings.evidence import of_boots
from analysis.findings.frames import rows

FINDING = "40-token-pool"
GIB = 2**30
AGREEMENT = 0.01
"""Boots of one configuration must agree on GiB x length / pool to block rounding: about one percent."""


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
ROUNDED = "as printed: logs round it to 0.01 GiB"


def predictions(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """pool.spread and pool.next_boot of each arm, of tokens and of available memory."""
    table = boots(connection)
    found = []
    for arm in table["arm"].unique(maintain_order=True):
        for measure, column, unit in (
            ("tokens", "token_pool_total_tokens", "tokens"),
            ("available", "available_kv_bytes", "bytes"),
        ):
            of_arm = table.filter((pl.col("arm") == arm) & pl.col(column).is_not_null())
            names = {"arm": arm, "measure": measure}
            evidence = of_boots(connection, of_arm["boot"].to_list(), FACTS[column])
            found += [
                e.with_evidence(*evidence).named(id, FINDING, **names) for id, e in _of_population(of_arm, column, unit)
            ]
    return found


def _of_population(of_arm: pl.DataFrame, column: str, unit: str) -> Iterable[tuple[str, Estimate]]:
    pinned = of_arm.filter(pl.col("kv_budget_source") != "profiled").height
    values = of_arm.filter(pl.col("kv_budget_source") == "profiled")[column].to_list()
    settings = of_arm["setting"].n_unique()
    reason = None if of_arm.height else "no boot of this arm prints it"
    if settings > 1:
        reason = f"the boots differ in their settings ({settings} of them): no spread over different settings"
    elif pinned and not values:
        reason = f"pinned: the memory was set, not profiled, in all {pinned} boots; it says nothing about scatter"
    if reason is not None:
        for id, its_unit in (("pool.spread", "1"), ("pool.next_boot", unit)):
            yield id, no_interval(None, its_unit, "none", reason, n=of_arm.height, n_of="boots")
        return
    notes = (f"{pinned} pinned boots left out",) if pinned else ()
    yield "pool.spread", over_boots.spread(values).with_warnings(*notes)
    yield "pool.next_boot", over_boots.next_boot(values, unit).with_warnings(*notes)


def identity(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row an arm and setting: bytes of one longest request by its boots (available x length / pool), the range.

    Boots of one configuration must agree to about one percent; where they do not, the memory that a log prints is not
    the memory that sized the pool, and no GiB-per-token statement holds.
    """
    return rows(
        connection,
        """
        with implied as (
            select arm, setting, available_kv_bytes * max_model_len_tokens / token_pool_tokens as bytes
            from boot_arms where available_kv_bytes > 0 and token_pool_tokens > 0 and kv_budget_source = 'profiled'
        )
        select arm, count(*) as boots, min(bytes) as least_bytes, max(bytes) as most_bytes,
            max(bytes) / min(bytes) - 1 as disagreement
        from implied group by arm, setting order by arm, setting
        """,
    )
