"""Sentences, tables and text alternatives of "what the token pool is": laid out, nothing computed anew."""

from math import ceil

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number
from analysis.findings.token_pool import AGREEMENT, GIB, boots

MEASURES = {"tokens": "pool", "available": "memory"}
"""What a reader calls what is predicted."""
ENOUGH = 4
"""Boots of one setting from which on their scatter is known well enough to act on (docs/methods.md)."""
UNLESS = "the setting, the engine's version or what else runs on the machine changes: that is another population."
ROUNDING_GIB = 0.005
"""Logs print GiB with two decimals."""


def headline(predictions: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: the next boot's pool, of each arm that has an interval."""
    return [
        e for e in predictions
        if e.id == "pool.next_boot" and e.qualifiers["measure"] == "tokens" and e.low is not None
    ]  # fmt: skip


def sentence(measured: list[Estimate], predictions: list[Estimate]) -> str:
    """The answer: the pools there are, and how far the next boot of an arm may lie."""
    pools = [e.value for e in measured if e.id == "pool.tokens" and e.value is not None]
    if not pools:
        return "What the token pool is cannot be said: no boot log prints one."
    seen = f"The {len(pools)} boots with a pool hold {_range(min(pools), max(pools))}"
    if len(pools) == 1:
        seen = f"The one boot with a pool holds {show_number(pools[0], 'tokens')}"
    known = headline(predictions)
    if not known:
        return f"{seen}; what the next boot gets cannot be said: no arm has two profiled boots that differ."
    reaches = {e.qualifiers["arm"]: _reach(e.value or 0, e.low or 0, e.high or 0) for e in known}
    arm, reach = max(reaches.items(), key=lambda item: item[1])
    return f"{seen}; where the next boot of an arm lies is known to ±{ceil(100 * reach)} % at the worst (arm {arm})."


def advice(predictions: list[Estimate]) -> dict[str, str]:
    """What to do about the answer and what would change it, as the arguments of an answer."""
    boots = {e.qualifiers["arm"]: e.n or 0 for e in predictions if e.id == "pool.next_boot" and _of_tokens(e)}
    few = {arm: n for arm, n in boots.items() if 0 < n < ENOUGH}
    if not few:
        return {
            "next_step": "" if boots else "Save what each boot of the engine prints.",
            "unless": UNLESS if boots else "",
        }
    arm, n = min(few.items(), key=lambda item: (-item[1], item[0]))
    times = "time" if ENOUGH - n == 1 else "times"
    more = f"Boot arm {arm} {ENOUGH - n} more {times}: {ENOUGH} boots limit the next one, fewer hardly do."
    return {"next_step": more, "unless": UNLESS}


def _of_tokens(e: Estimate) -> bool:
    return e.qualifiers["measure"] == "tokens"


def _reach(value: float, low: float, high: float) -> float:
    return max(high - value, value - low) / value


def _range(least: float, most: float) -> str:
    return f"{show_number(least, 'tokens').removesuffix(' tokens')} to {show_number(most, 'tokens')}"


def pool_table(connection: duckdb.DuckDBPyConnection, predictions: list[Estimate]) -> pl.DataFrame:
    """One row a boot: arm, outcome, pool in tokens, and its arm's interval for the next boot."""
    next_boot = {e.qualifiers["arm"]: e for e in headline(predictions)}
    return pl.DataFrame(
        [
            {
                "boot": boot["boot"], "arm": boot["arm"], "outcome": boot["outcome"],
                "tokens": boot["token_pool_total_tokens"],
                "low": e.low if (e := next_boot.get(boot["arm"])) else None, "high": e.high if e else None,
            }
            for boot in boots(connection).iter_rows(named=True)
        ],
        schema=dict.fromkeys(("boot", "arm", "outcome"), pl.String)
        | dict.fromkeys(("tokens", "low", "high"), pl.Float64),
    )  # fmt: skip


def describe_pools(pools: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of pools."""
    known = pools.drop_nulls("tokens")
    arms = known.group_by("arm").agg(
        pl.col("tokens").min().alias("least"), pl.col("tokens").max().alias("most"), pl.len().alias("n")
    )
    said = [f"arm {arm}: {_range(least, most)} over {n} boots" for arm, least, most, n in arms.sort("arm").iter_rows()]
    without, banded = pools.height - known.height, pools.drop_nulls("low")["arm"].n_unique()
    return {
        "title": f"Pools of {known.height} boots in {arms.height} arms" if said else "No boot log prints a pool",
        "subtitle": f"a point a boot; shaded: 95 % prediction interval of the arm's next boot ({banded} arms); "
        f"{without} boots have no pool",
        "description": "Token pool by arm. " + "; ".join(said or ["no data"]),
    }


def memory_table(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot whose log prints memory: GiB available to the cache, its rounding, GiB needed where refused."""
    table = boots(connection).filter(pl.col("available_kv_gib_min").is_not_null())
    value = pl.col("available_kv_gib_min")
    return table.select(
        label="boot",
        group="arm",
        value=value,
        low=value - ROUNDING_GIB,
        high=value + ROUNDING_GIB,
        needed="kv_needed_gib",
    )


def describe_memory(memory: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of memory."""
    said = [
        f"{label}: {value:.2f} GiB" + (f", needed {needed:.2f} GiB" if needed is not None else "")
        for label, value, needed in memory.select("label", "value", "needed").iter_rows()
    ]
    short = memory.filter(pl.col("needed").is_not_null()).height
    return {
        "title": f"{memory.height} boots print their memory; {short} were refused for too little of it"
        if said
        else "No boot log prints its memory",
        "subtitle": "memory available to the KV cache (GiB), the least over ranks, as printed; by arm; "
        "tick: needed for one longest request",
        "description": "Memory available to the cache by boot. " + "; ".join(said or ["no data"]),
    }


def prediction_table(predictions: list[Estimate]) -> pl.DataFrame:
    """One row an arm and measure: boots, spread and the next boot with their intervals, or the reason for none."""
    rows: dict[tuple[str, str], dict[str, str | int | None]] = {}
    for e in predictions:
        place = (e.qualifiers["arm"], e.qualifiers["measure"])
        row = rows.setdefault(place, {"arm": place[0], "measure": MEASURES.get(place[1], place[1]), "boots": e.n})
        if e.value is None:
            row["why none"] = e.reason
        else:
            row["spread" if e.id == "pool.spread" else "next boot"] = show(e)
    texts = dict.fromkeys(("spread", "next boot", "why none"), pl.String)
    columns = {"arm": pl.String, "measure": pl.String, "boots": pl.Int64, **texts}
    return pl.DataFrame(list(rows.values()), schema=columns).sort("arm", maintain_order=True)


def identity_table(identity: pl.DataFrame) -> pl.DataFrame:
    """One row an arm: what one longest request takes by its boots, least and most, and by how much they disagree."""
    gib = {f"{end} (GiB)": pl.col(f"{end}_bytes") / GIB for end in ("least", "most")}
    return identity.select(
        "arm", "boots", **gib, **{"disagreement (%)": 100 * pl.col("disagreement")},
        **{"one story": pl.when(pl.col("boots") < 2).then(None).otherwise(pl.col("disagreement") <= AGREEMENT)},
    )  # fmt: skip
