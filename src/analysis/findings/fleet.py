"""A fleet by replica: shares from sums over sums, pools, settings, and which replicas are unlike the others."""

from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl

from analysis.estimates.clusters import clustered_share
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.replicas import Scale, Unlike, unlike
from analysis.estimates.rounding import show
from analysis.findings.frames import rows

FINDING = "85-fleet"
SHOWN = 40
"""Most replicas listed one by one; a fleet has thousands."""
ASSUMPTION = "replicas are independent, and those of the study stand for the fleet"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that each replica has: its column, unit, scale, and its name in words."""

    column: str
    unit: str
    scale: Scale
    words: str


HOW = (
    "Record the metric pages of several servers over the same time, each in its folder below metrics/, or read a "
    "fleet's own records: `make report DATA='prometheus+http://...'` (docs/formats/fleet.md)."
)
"""Where there is no fleet."""
MEASURES = (
    Measure("prefill_share", "1", "logit", "prefill share of request-seconds"),
    Measure("queue_s", "s", "log", "seconds in the queue of a request"),
    Measure("requests", "requests", "log", "finished requests"),
    Measure("pool_tokens", "tokens", "log", "token pool"),
)


@dataclass(frozen=True, slots=True)
class Fleet:
    """One row a replica with its figures, how it is set, and by measure which replicas are unlike the others."""

    table: pl.DataFrame
    settings: pl.DataFrame
    unlike: dict[str, Unlike]

    @property
    def size(self) -> int:
        """How many replicas there are."""
        return self.table.height


def fleet(connection: duckdb.DuckDBPyConnection) -> Fleet:
    """The replicas of a study, those with most requests first; none where one replica ran at a time."""
    table = rows(
        connection,
        """
        select
            replica,
            coalesce(max(total) filter (concept = 'prefill_time' and statistic <> 'count'), 0)::double as prefill_s,
            coalesce(max(total) filter (concept = 'decode_time' and statistic <> 'count'), 0)::double as decode_s,
            max(total) filter (concept = 'prefill_time' and statistic = 'count')::double as requests,
            (max(total) filter (concept = 'queue_time' and statistic = 'sum')
                / nullif(max(total) filter (concept = 'queue_time' and statistic = 'count'), 0))::double as queue_s,
            any_value(replica_pools.tokens) as pool_tokens,
            any_value(replicas.source) as source
        from replicas
        left join replica_sums using (replica)
        left join replica_pools using (replica)
        group by replica order by requests desc nulls last, replica
        """,
    ).with_columns(prefill_share=pl.col("prefill_s") / (pl.col("prefill_s") + pl.col("decode_s")))
    settings = rows(connection, "select replica, setting, value from replica_settings order by all")
    found = {m.column: unlike(_floats(table, m.column), m.scale, m.unit) for m in MEASURES}
    return Fleet(table, settings, found)


def _floats(table: pl.DataFrame, column: str) -> np.ndarray:
    return table[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def figures(it: Fleet) -> list[Estimate]:
    """fleet.replicas, fleet.prefill_share, fleet.settings, and by measure fleet.expected and fleet.unlike."""
    count = Estimate(it.size, "1", "census", "replicas that ran at one time", n=it.size, n_of="replicas",
                     reason="census: replicas counted")  # fmt: skip
    found = [count.named("fleet.replicas", FINDING), _share(it).named("fleet.prefill_share", FINDING), _settings(it)]
    for measure in MEASURES:
        result = it.unlike[measure.column]
        found.append(result.expected.named("fleet.expected", FINDING, measure=measure.column))
        n = int(np.isfinite(_floats(it.table, measure.column)).sum())
        if result.expected.low is None and not result.is_unlike.any():
            unlike_there = not_computable("1", result.expected.reason or "no scatter")
        else:
            unlike_there = Estimate(
                int(result.is_unlike.sum()), "1", "census", "replicas outside of where one like the others would lie",
                n=n, n_of="replicas", reason="census: counted; 5 % over all replicas that any is counted wrongly",
            )  # fmt: skip
        found.append(unlike_there.named("fleet.unlike", FINDING, measure=measure.column))
    return found


def _share(it: Fleet) -> Estimate:
    """Sums over sums; a mean of the replicas' shares would weigh an idle replica like a busy one."""
    part, rest = it.table["prefill_s"].to_numpy(), it.table["decode_s"].to_numpy()
    whole = part + rest
    if not it.size or not whole.sum() > 0:
        return not_computable("1", "no fleet with prefill and decode seconds by replica")
    if it.size < 2 or not 0 < part.sum() < whole.sum():
        return no_interval(
            float(part.sum() / whole.sum()),
            "1",
            "sums over sums",
            "fewer than two replicas, or one phase",
            n=it.size,
            n_of="replicas",
        )
    return clustered_share(part, whole, np.arange(it.size), "replicas", ASSUMPTION)


def _settings(it: Fleet) -> Estimate:
    kinds = grouped_settings(it)
    known = int(kinds["replicas"].sum())
    if not known:
        found = not_computable("1", "no replica exports an info metric, and no boot log belongs to one")
    else:
        found = Estimate(kinds.height, "1", "census", "different settings among replicas", n=known, n_of="replicas",
                         reason="census: every label of info metrics compared")  # fmt: skip
    return found.named("fleet.settings", FINDING)


def grouped_settings(it: Fleet) -> pl.DataFrame:
    """One row a different setting: how many replicas have it, where it differs from the commonest, and some of them."""
    empty = pl.DataFrame(schema={"replicas": pl.Int64, "differs": pl.String, "which": pl.String})
    if it.settings.is_empty():
        return empty
    # A setting that a replica does not state is a difference too.
    wide = it.settings.pivot("setting", index="replica", values="value")
    names = sorted(column for column in wide.columns if column != "replica")
    kinds = (
        wide.group_by(names).agg(pl.len().alias("replicas"), pl.col("replica").sort().alias("members"))
        .sort(pl.col("replicas"), pl.col("members").list.first(), descending=[True, False])
    )  # fmt: skip
    common = kinds.row(0, named=True)
    listed = []
    for index, row in enumerate(kinds.iter_rows(named=True)):
        differs = [
            f"{n}: {row[n] or 'not stated'} (else {common[n] or 'not stated'})" for n in names if row[n] != common[n]
        ]
        some = row["members"][:5]
        more = f" and {len(row['members']) - len(some)} more" if len(row["members"]) > len(some) else ""
        listed.append((row["replicas"], "; ".join(differs) if index else "the commonest", ", ".join(some) + more))
    return pl.DataFrame(listed, schema=empty.schema, orient="row")


def listed(it: Fleet) -> pl.DataFrame:
    """One row a replica with its figures and in what it is unlike the others: those first, then by requests."""
    words = [
        ", ".join(m.words for m in MEASURES if it.unlike[m.column].is_unlike[index]) for index in range(it.size)
    ]  # fmt: skip
    table = it.table.with_columns(unlike=pl.Series("unlike", words, pl.String))
    table = table.sort(pl.col("unlike") == "", maintain_order=True).head(SHOWN)
    return table.select(
        "replica", "requests", (pl.col("prefill_share") * 100).alias("prefill share (%)"),
        pl.col("queue_s").alias("queue (s a request)"), pl.col("pool_tokens").alias("token pool"), "unlike",
    )  # fmt: skip


def shares(it: Fleet) -> pl.DataFrame:
    """One row a replica with a prefill share, in order of it: rank in %, the share in %, and whether it is unlike."""
    table = it.table.with_columns(
        is_unlike=pl.Series("is_unlike", it.unlike["prefill_share"].is_unlike.tolist(), pl.Boolean)
    ).filter(pl.col("prefill_share").is_finite()).sort("prefill_share", "replica")  # fmt: skip
    return table.select(
        "replica", (pl.col("prefill_share") * 100).alias("value"),
        (100 * (pl.int_range(pl.len()) + 0.5) / pl.len()).alias("rank"),
        pl.when("is_unlike").then(pl.lit("unlike the others")).otherwise(pl.lit("alike")).alias("kind"),
    )  # fmt: skip


def sentence(it: Fleet, found: list[Estimate]) -> str:
    """The answer: how many replicas, the fleet's share, and what stands out; or that there is no fleet."""
    if not it.size:
        return "This study has one replica at a time, so there is no fleet in it to compare."
    by_id = {(e.id, e.qualifiers.get("measure")): e for e in found}
    share, settings = by_id["fleet.prefill_share", None], by_id["fleet.settings", None]
    said = [f"{it.size:,} replicas ran at one time"]
    if share.value is not None:
        said.append(f"prefill is {show(share)} of their prefill and decode request-seconds")
    tested = [m for m in MEASURES if by_id["fleet.unlike", m.column].value is not None]
    out = [(n, m.words) for m in tested if (n := int(it.unlike[m.column].is_unlike.sum()))]
    if out:
        said.append(", ".join(f"{n:,} {'is' if n == 1 else 'are'} unlike the others in {words}" for n, words in out))
    elif tested:
        said.append("none is unlike the others")
    else:
        why = by_id["fleet.unlike", MEASURES[0].column].reason or ""
        said.append(f"whether one is unlike the others cannot be told ({why.removeprefix('not computable: ')})")
    if settings.value is not None:
        said.append("all are set alike" if settings.value == 1 else f"they run {settings.value:g} different settings")
    return "; ".join(said) + "."


def next_step(it: Fleet) -> str:
    """What to do about what stands out, empty where nothing does; or how to record a fleet."""
    if not it.size:
        return HOW
    kinds = grouped_settings(it)
    if kinds.height > 1:
        return f"Bring the replicas to one setting, or compare them by setting: {kinds['which'][-1]} differs."
    apart = [name for name, words in listed(it).select("replica", "unlike").iter_rows() if words]
    return f"Look at what {apart[0]} was sent before looking for a fault in it." if apart else ""


def caption(it: Fleet) -> str:
    """What the table of replicas holds."""
    shown = f"{SHOWN} of {it.size:,} replicas" if it.size > SHOWN else f"All {it.size:,} replicas"
    return f"{shown}; unlike: beyond where one like the others would lie, 5 % over all replicas"


def describe(it: Fleet, points: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of shares by replica."""
    expected = it.unlike["prefill_share"].expected
    apart = int(it.unlike["prefill_share"].is_unlike.sum())
    title = "No replica has a prefill share"
    if points.height:
        title = "No range for a replica's prefill share"
    if expected.low is not None:
        verb = "has" if apart == 1 else "have"
        title = f"{apart:,} of {points.height:,} replicas {verb} a prefill share unlike the others'"
    band = (
        "band: where a replica like the others would lie (5 % over all)"
        if expected.low is not None
        else f"no band: {expected.reason}"
    )
    known = points["value"].to_list()
    ends = "No data."
    if known:
        middle = float(np.median(known))
        ends = f"From {known[0]:.1f} % to {known[-1]:.1f} % over {len(known):,} replicas; median {middle:.1f} %."
    outside = points.filter(pl.col("kind") != "alike").head(10)
    named = [f"{name}: {value:.1f} %" for name, value in outside.select("replica", "value").iter_rows()]
    return {
        "title": title, "subtitle": f"prefill share of request-seconds (%) by replica, in order of it; {band}",
        "description": f"{ends} Expected: {show(expected)}. Unlike the others: {'; '.join(named) or 'none'}.",
    }  # fmt: skip
