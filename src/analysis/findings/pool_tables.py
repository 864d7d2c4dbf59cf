"""Sentences, tables and text alternatives of "what the token pool is": laid out, nothing computed anew."""

from math import ceil, isfinite
from typing import Any

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show, show_number, show_value
from analysis.findings.frames import rows
from analysis.findings.pool_eras import token_figure
from analysis.findings.token_pool import GIB, PINNED, boots, by_population
from analysis.findings.words import MOST, number_of

MEASURES = {"tokens": "pool", "available": "memory"}
"""What a reader calls what is predicted."""
MEASURED = {
    "pool.tokens": "tokens", "pool.available": "memory (GiB)", "pool.requests_at_max_length": "requests at that length"
}  # fmt: skip
"""The columns of the table of boots that show what token_pool.census reads."""
FIGURE = "the token figure is"
SETTLED = 4
"""Boots of a setting at which the spread has a ceiling within a factor of five."""
UNLESS = "the setting, the engine's version or what else runs on the machine changes: that is another population."
ROUNDING_GIB = 0.005
"""Logs print GiB with two decimals."""


def headline(predictions: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: the next boot's pool where one has an interval, else its memory."""
    known = [e for e in predictions if e.id == "pool.next_boot" and e.low is not None]
    return [e for e in known if e.qualifiers["measure"] == "tokens"] or known


def sentence(
    measured: list[Estimate],
    predictions: list[Estimate],
    identity: list[Estimate],
    every: list[Estimate] | None = None,
) -> str:
    """The answer: the pools there are, how far the next boot may lie, and whether memory and pool tell one story.

    Given `every` figure of the boots, `measured` are those of them that rest on nothing assumed.
    """
    there = _pools(measured if every is None else every)
    if not there:
        return "What the token pool is cannot be said: no boot log prints one."
    seen = _seen(_pools(measured), len(there))
    broken = [e for e in identity if e.verdict == "broken"]
    doubt = ""
    if broken:
        worst = max(broken, key=lambda e: e.value or 0)
        doubt = (
            f" Memory and pool contradict each other in arm {worst.qualifiers['arm']}: what one longest request takes "
            f"differs by {show_value(worst)} between boots of one configuration."
        )
    known = headline(predictions)
    if not known:
        takes = "that takes two profiled boots of one setting that differ"
        return f"{seen}; what the next boot gets cannot be said: {takes}.{doubt}"
    reaches = {who(e): _reach(e.value or 0, e.low or 0, e.high or 0) for e in known}
    arm, reach = max(reaches.items(), key=lambda item: item[1])
    what = "" if known[0].qualifiers["measure"] == "tokens" else "the memory of "
    return (
        f"{seen}; where {what}the next boot of a setting lies is known to ±{ceil(100 * reach)} % at the worst "
        f"(arm {arm}).{doubt}"
    )


def _pools(measured: list[Estimate]) -> dict[str, float]:
    """The pool of each boot that has one."""
    return {e.qualifiers["boot"]: e.value for e in measured if e.id == "pool.tokens" and e.value is not None}


def _seen(pools: dict[str, float], there: int) -> str:
    """What the boots hold; where some pools rest on assumed figures, which are counted."""
    hold = "hold " + _range(min(pools.values()), max(pools.values())) if pools else ""
    if len(pools) == 1:
        hold = f"holds {show_number(max(pools.values()), 'tokens')}"
    if len(pools) == there:
        return f"The one boot with a pool {hold}" if there == 1 else f"The {there} boots with a pool {hold}"
    if not pools:
        return f"The pools of all {there} boots with one rest on assumed figures"
    names = f" ({', '.join(pools)})" if len(pools) <= MOST else ""
    return (
        f"Of {there} boots with a pool the {len(pools)} counted here{names} {hold}; the others rest on assumed figures"
    )


def next_step(predictions: list[Estimate]) -> str:
    """What would narrow the widest interval, or give one; nothing where the memory or pool of every boot was set."""
    known = headline(predictions)
    if not known:
        if predictions and all((e.reason or "").startswith(PINNED) for e in predictions if e.n):
            return ""
        return "boot one setting four times: two boots show how far boots lie apart at least, four also how far at most"
    few = min(known, key=lambda e: e.n or 0)
    if (few.n or 0) < SETTLED:
        open_ = f"with {few.n} it is hardly known how far boots lie apart at most"
        return f"boot arm {who(few)} until it has {SETTLED} boots: {open_}"
    return ""


def who(e: Estimate) -> str:
    """The arm of a figure, and its population where the arm has several."""
    return ", ".join(filter(None, (e.qualifiers["arm"], e.qualifiers.get("population"))))


def _reach(value: float, low: float, high: float) -> float:
    return max(high - value, value - low) / value


def _range(least: float, most: float) -> str:
    return f"{show_number(least, 'tokens').removesuffix(' tokens')} to {show_number(most, 'tokens')}"


def pool_table(
    connection: duckdb.DuckDBPyConnection, predictions: list[Estimate], measured: list[Estimate]
) -> pl.DataFrame:
    """One row a boot: population, outcome, pool in tokens, and its population's interval for the next boot."""
    pools = {e.qualifiers["boot"]: e for e in measured if e.id == "pool.tokens"}
    next_boot = {who(e): e for e in headline(predictions) if e.qualifiers["measure"] == "tokens"}
    rows = []
    for arm, population, boot in by_population(connection):
        group = ", ".join(filter(None, (arm, population)))
        e = next_boot.get(group)
        rows.append({
            "boot": boot["boot"], "arm": group, "outcome": boot["outcome"],
            "tokens": Shown(pools[boot["boot"]], boot["token_pool_total_tokens"], "value"),
            "low": Shown(e, e.low, "end") if e else None, "high": Shown(e, e.high, "end") if e else None,
        })  # fmt: skip
    texts, floats = ("boot", "arm", "outcome"), ("tokens", "low", "high")
    return cells.frame(rows, dict.fromkeys(texts, pl.String) | dict.fromkeys(floats, pl.Float64))


def measures_table(
    connection: duckdb.DuckDBPyConnection, measured: list[Estimate], identity: list[Estimate]
) -> pl.DataFrame:
    """One row a boot: memory, pool and requests side by side, what one request needs, and what the token figure is."""
    table = rows(connection, "select * from pool_measures order by ordinal_in_study")
    printed = {(e.qualifiers["boot"], MEASURED[e.id]): e for e in measured}
    needs = {tuple(e.qualifiers.get(k) for k in ("arm", "max_model_len", "batch_tokens")): e for e in identity}
    made = []
    for boot in table.iter_rows(named=True):
        known = {
            c: e for c in MEASURED.values() if (e := printed[boot["boot"], c]).value is not None or boot[c] is None
        }
        row = {**boot, **{c: cells.ends(e, 1 / GIB if e.unit == "bytes" else 1)["value"] for c, e in known.items()}}
        need = needs.get((boot["arm"], str(boot["length"]), str(boot["batch tokens"])))
        if need is not None:
            row["need of one (MiB)"] = Shown(need, boot["need of one (MiB)"], "input")
        if boot["tokens"] is not None:
            row[FIGURE] = token_figure(boot["engine"], boot["engine_version"], boot["pool_consistent"])
        made.append(row)
    names = (
        "boot", "arm", "outcome", "length", "batch tokens", "memory (GiB)", "tokens", "requests at that length",
        "need of one (MiB)", "budget", FIGURE,
    )  # fmt: skip
    return cells.frame(made, {**table.schema, FIGURE: pl.String}).select(*cells.columns(*names))


def describe_pools(pools: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of pools."""
    known = pools.drop_nulls("tokens")
    arms = known.group_by("arm").agg(
        pl.col("tokens").min().alias("least"), pl.col("tokens").max().alias("most"), pl.len().alias("n")
    )
    said = [
        f"arm {arm}: {_range(least, most)} over {number_of(n, 'boot')}"
        for arm, least, most, n in arms.sort("arm").iter_rows()
    ]
    without, banded = pools.height - known.height, pools.drop_nulls("low")["arm"].n_unique()
    title = f"Pools of {number_of(known.height, 'boot')} in {number_of(arms.height, 'setting')}"
    return {
        "title": title if said else "No boot log prints a pool",
        "subtitle": "a point a boot; shaded: 95 % prediction interval of the next boot of a setting "
        f"({number_of(banded, 'setting')}); {number_of(without, 'boot')} without a pool",
        "description": "Token pool by arm. " + "; ".join(said or ["no data"]),
    }


def memory_table(connection: duckdb.DuckDBPyConnection, measured: list[Estimate]) -> pl.DataFrame:
    """One row a boot whose log prints memory: GiB available to the cache, its rounding, GiB needed where refused."""
    printed = {e.qualifiers["boot"]: e for e in measured if e.id == "pool.available"}
    table = boots(connection).filter(pl.col("available_kv_gib_min").is_not_null())
    made = [
        (boot, arm, Shown(printed[boot], gib, "value"),
         *(Shown(printed[boot], gib + off, "end") for off in (-ROUNDING_GIB, ROUNDING_GIB)), needed)
        for boot, arm, gib, needed in table.select("boot", "arm", "available_kv_gib_min", "kv_needed_gib").iter_rows()
    ]  # fmt: skip
    floats = ("value", "low", "high", "needed")
    return cells.frame(made, {"label": pl.String, "group": pl.String, **dict.fromkeys(floats, pl.Float64)})


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
    """One row a population and measure: boots, spread and the next boot with their intervals, or why none."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for e in predictions:
        measure = e.qualifiers["measure"]
        row = found.setdefault(
            (who(e), measure),
            {"arm": e.qualifiers["arm"], "population": e.qualifiers.get("population"),
             "measure": MEASURES.get(measure, measure), "boots": e.n},
        )  # fmt: skip
        if e.value is None or (e.id == "pool.next_boot" and e.low is None and e.reason):
            row["why none"] = cells.reason(e)
        row["spread" if e.id == "pool.spread" else "next boot"] = Shown(e, None if e.value is None else show(e))
        if e.id == "pool.spread" and e.low and e.high and isfinite(e.high):
            row["spread known within a factor of"] = Shown(e, f"{e.high / e.low:.2g}", "end")
        if e.n is not None and e.n > 1 and e.low is not None:
            row["chance that the next lies in the range seen"] = show_number((e.n - 1) / (e.n + 1), "1", digits=2)
    texts = (
        "population", "measure", "spread", "next boot", "spread known within a factor of",
        "chance that the next lies in the range seen", "why none",
    )  # fmt: skip
    columns = {"arm": pl.String, "boots": pl.Int64} | dict.fromkeys(texts, pl.String)
    order = ["arm", "population", "measure", "boots", *texts[2:]]
    made = cells.frame(found.values(), {c: columns[c] for c in order}).sort("arm", maintain_order=True)
    return made if made["population"].count() else made.drop("population")


def pairs_table(estimates: list[Estimate]) -> pl.DataFrame:
    """One row a figure that compares: by how much a warm compile cache differs, or memory spreads more than tokens."""
    made = [
        {
            "arm": who(e), "measure": MEASURES.get(e.qualifiers.get("measure", ""), "memory over pool"), "boots": e.n,
            "factor": Shown(e, _factor(e)),
            "why none": cells.reason(e) if e.low is None else None,
            "read with it": "; ".join(e.warnings) or None,
        }
        for e in estimates
    ]  # fmt: skip
    names = ("arm", "measure", "boots", "factor", "why none", "read with it")
    return cells.frame(made, {n: pl.Int64 if n == "boots" else pl.String for n in names})


def _factor(e: Estimate) -> str | None:
    """The figure; where it has no interval, as exact as the log has it: the reason stands beside it."""
    if e.value is None:
        return None
    return show(e) if e.low is not None else show_value(e)


def identity_table(identity: list[Estimate]) -> pl.DataFrame:
    """One row an arm, length and batch size: by how much its boots disagree on what one longest request takes."""
    made = [
        {
            "arm": e.qualifiers["arm"], "length": e.qualifiers.get("max_model_len"),
            "batch tokens": e.qualifiers.get("batch_tokens"), "boots": e.n,
            "disagreement (%)": cells.ends(e, 100)["value"],
            "one story": None if e.verdict is None else e.verdict == "holds",
        }
        for e in identity
    ]  # fmt: skip
    texts = dict.fromkeys(("arm", "length", "batch tokens"), pl.String)
    return cells.frame(made, texts | {"boots": pl.Int64, "disagreement (%)": pl.Float64, "one story": pl.Boolean})
