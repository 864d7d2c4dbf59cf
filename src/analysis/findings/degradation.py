"""Silent degradation: what was looked at, what was found in it, and when it began; and what could not be looked at.

Each look ends in found, not found, or could not look. Nothing here is a verdict on speed: a fallback in the boot log is
a fact of configuration, a drift is a test on blocks, and memory pressure is a threshold that is stated.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb
import polars as pl

from analysis.engines.boot_lines import load
from analysis.estimates.estimate import Estimate, Evidence
from analysis.findings.mixed_host import samples

FINDING = "65-degradation"
PRESSURE = 0.10
"""Memory pressure: less than this share of the host's memory is available."""
CLOCK_FALL = 0.10
"""Throttling: a clock this share below its highest, while the device was busy or nothing says whether it was."""
LOADED = 2.0
"""Overload: this many runnable tasks for each CPU that study.toml declares."""
OVERLOAD = f"load average above {LOADED:g} a CPU"
BLIND = "a slow or shared CPU would not show in it"


@dataclass(frozen=True, slots=True)
class Look:
    """One thing that was looked for in one boot. `found` is None where it could not be looked for; `began` in words."""

    boot: str
    what: str
    found: bool | None
    said: str
    began: str = ""
    evidence: tuple[Evidence, ...] = ()
    means: str = ""
    estimate: Estimate | None = None
    """The figure that `said` holds."""


FALLBACKS = """
    select boot_facts.boot, fact, count(*) as lines, min(boot_facts.file) as file, min(line) as line,
        min_by(quote, line) as quote, min(line) <= coalesce(any_value(outcome_line), max(line)) as while_booting
    from boot_facts join boots on boot_facts.boot = boots.boot
    where list_contains($facts, fact)
    group by boot_facts.boot, fact, boots.ordinal order by boots.ordinal, boot_facts.boot, line
"""


def fallbacks(connection: duckdb.DuckDBPyConnection) -> list[Look]:
    """The fallback lines of each boot log (engines/*/boot_lines.toml, purpose fallback), one a kind."""
    means = {line.id: line.means for line in load().lines if line.purpose == "fallback"}
    declared = sorted(means)
    rows = connection.sql(FALLBACKS, params={"facts": declared}).fetchall()
    looks = []
    for (boot,) in connection.sql("select boot from boots order by ordinal, file, boot").fetchall():
        mine = [row for row in rows if row[0] == boot]
        for _, fact, lines, file, line, quote, booting in mine:
            when = f"line {line}, while {'booting' if booting else 'serving'}"
            said = f"{fact.replace('_', ' ')}: {lines} line{'s' if lines > 1 else ''}"
            shown = (Evidence(file, line=line, quote=quote),)
            looks.append(Look(boot, "fallback", True, said, when, shown, means[fact]))
        if not mine:
            looks.append(Look(boot, "fallback", False, f"none of {len(declared)} known kinds of line"))
    return looks


def fallback_counts(looks: list[Look]) -> list[Estimate]:
    """degradation.fallback_lines of each boot whose log was read: how many kinds of fallback line it holds."""
    found = []
    for boot in dict.fromkeys(look.boot for look in looks if look.what == "fallback"):
        mine = [look for look in looks if look.boot == boot and look.what == "fallback" and look.found]
        count = Estimate(
            float(len(mine)), "1", "census", "kinds of known fallback lines in the boot log", n=1, n_of="boots",
            reason="census: what this boot's log says", evidence=tuple(e for look in mine for e in look.evidence),
        )  # fmt: skip
        found.append(count.named("degradation.fallback_lines", FINDING, boot=boot))
    return found


CPUS = "select try_cast(value as double) from study_facts where key = 'hardware.cpus' limit 1"


def host_signs(connection: duckdb.DuckDBPyConnection) -> list[Look]:
    """Memory pressure, swap, the load average, and throttling, in the host counters of each boot."""
    table = samples(connection)
    cpus = connection.sql(CPUS).fetchall()
    looks = []
    for (boot,) in connection.sql("select boot from boots order by ordinal, file, boot").fetchall():
        mine = table.filter(pl.col("boot") == boot).sort("at_s")
        if not mine.height:
            looks.append(Look(boot, "host counters", None, "no host counters of this boot"))
            continue
        looks += [_pressure(boot, mine), _swap(boot, mine), _contention(boot, mine, cpus[0][0] if cpus else None)]
        looks += [_throttle(boot, mine), _clock(boot, mine)]
    return looks


def _pressure(boot: str, mine: pl.DataFrame) -> Look:
    total, free = _of(mine, "memory_total"), _of(mine, "memory_available")
    if not total.height or not free.height:
        return Look(boot, "memory pressure", None, "no mem_total and mem_available")
    whole = float(total["value"].to_numpy().max())
    share = free.with_columns(value=pl.col("value") / whole)
    least = float(share["value"].to_numpy().min())
    said = f"least available {least:.0%} of memory over {share.height} samples"
    return _first(boot, "memory pressure", share.filter(pl.col("value") < PRESSURE), said)


def _swap(boot: str, mine: pl.DataFrame) -> Look:
    used, total = _of(mine, "swap_used"), _of(mine, "swap_total")
    if not used.height:
        return Look(boot, "swap", None, "no swap_used")
    if total.height and not total["value"].to_numpy().max():
        return Look(boot, "swap", False, f"the host has no swap ({total.height} samples)")
    start = float(used["value"][0])
    grown = used.filter(pl.col("value") > start)
    most = float(used["value"].to_numpy().max())
    return _first(
        boot, "swap", grown, f"from {start / 2**20:.0f} MiB to {most / 2**20:.0f} MiB in {used.height} samples"
    )


def _contention(boot: str, mine: pl.DataFrame, cpus: float | None) -> Look:
    load_ = _of(mine, "load")
    if not load_.height or not cpus or cpus <= 0:
        missing = "no load1" if not load_.height else "study.toml does not say hardware.cpus"
        return Look(boot, OVERLOAD, None, missing)
    most = float(load_["value"].to_numpy().max()) / cpus
    said = f"at most {most:.1f} runnable tasks for each of {cpus:g} CPUs (the engine's own among them); {BLIND}"
    return _first(boot, OVERLOAD, load_.filter(pl.col("value") > LOADED * cpus), said)


def _throttle(boot: str, mine: pl.DataFrame) -> Look:
    flags = _of(mine, "throttle")
    if not flags.height:
        return Look(boot, "throttling flags", None, "no counter named throttle")
    return _first(boot, "throttling flags", flags.filter(pl.col("value") > 0), f"{flags.height} samples")


def _clock(boot: str, mine: pl.DataFrame) -> Look:
    clock = _of(mine, "clock")
    if not clock.height:
        heat = "; temperature was sampled" if _of(mine, "temperature").height else " and no temperature"
        return Look(boot, "falling clock", None, f"no clock in MHz{heat}")
    top = float(clock["value"].to_numpy().max())
    slow = clock.filter(pl.col("value") < (1 - CLOCK_FALL) * top)
    said = f"highest {top:.0f} MHz, {slow.height} of {clock.height} samples more than {CLOCK_FALL:.0%} below it"
    return _first(boot, "falling clock", slow, said)


def _of(mine: pl.DataFrame, measure: str) -> pl.DataFrame:
    return mine.filter(pl.col("measure") == measure)


def _first(boot: str, what: str, hits: pl.DataFrame, said: str) -> Look:
    if not hits.height:
        return Look(boot, what, False, said)
    row = hits.row(0, named=True)
    line = Evidence(str(row["file"]), line=int(row["line"]), series=str(row["measure"]))
    return Look(boot, what, True, said, moment(float(row["at_s"])), (line,))


def moment(at_s: float) -> str:
    """A unix time as text in UTC; a number that is no date stays a number."""
    try:
        return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{at_s:g} s"


PREEMPTIONS = """
    select run as boot, sum(increase) as total, min(end_s) filter (increase > 0) as began_s,
        min(file) filter (increase > 0) as file
    from run_windows where concept = 'preemptions' and statistic = 'value' and boot is not null group by run
"""
CACHE = """
    select boot_pages.boot, max(value) as most, count(*) as pages from concept_gauges
    join boot_pages using (page) where concept = 'kv_cache_usage' and boot_pages.boot is not null
    group by boot_pages.boot
"""
FULL = 0.99


def engine_signs(connection: duckdb.DuckDBPyConnection) -> list[Look]:
    """Preempted requests and a full cache, on the metric pages of each boot: work that is done again."""
    again = {row[0]: row[1:] for row in connection.sql(PREEMPTIONS).fetchall()}
    cache = {row[0]: row[1:] for row in connection.sql(CACHE).fetchall()}
    looks = []
    for (boot,) in connection.sql("select boot from boots order by ordinal, file, boot").fetchall():
        if boot not in again:
            looks.append(Look(boot, "preemptions", None, "no counter of preemptions on a page of this boot"))
        else:
            total, began, file = again[boot]
            when = moment(began) if began is not None else ""
            lines = (Evidence(file),) if file and total else ()
            looks.append(Look(boot, "preemptions", bool(total), f"{total or 0:.0f} requests", when, lines))
        if boot in cache:
            most, pages = cache[boot]
            looks.append(Look(boot, "full KV cache", most >= FULL, f"at most {most:.0%} in use on {pages} pages"))
    return looks
