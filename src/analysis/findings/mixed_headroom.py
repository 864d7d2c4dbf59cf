"""How far what was measured is from its limits: those that were declared, and those of the machine; and start-up."""

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.findings import start_ups
from analysis.findings.mixed_traffic import FINDING
from analysis.findings.objective import Objective

LIMIT_OF = {"memory_used": "memory_used_bytes", "swap_used": "swap_used_bytes", "power": "power_w",
            "temperature": "temperature_celsius"}  # fmt: skip
"""The declared limit that a measure is held against."""
WHOLE_OF = {"memory_used": "memory_total", "swap_used": "swap_total", "device_memory_used": "device_memory_total"}
"""What the machine has of a measure."""


def headroom(
    table: pl.DataFrame, peaks_: list[Estimate], engine: list[Estimate], declared: Objective
) -> list[Estimate]:
    """mixed.headroom: 1 less peak over limit, by phase and resource; `limit` says whose: declared, or the machine's."""
    estimates = []
    for e in peaks_:
        measure, names = e.qualifiers["measure"], {k: e.qualifiers[k] for k in ("boot", "phase")}
        limits = [("declared", declared.limits.get(LIMIT_OF.get(measure, "")))]
        whole = table.filter((pl.col("boot") == names["boot"]) & (pl.col("measure") == WHOLE_OF.get(measure, "")))[
            "value"
        ]
        limits.append(("machine", float(whole.max()) if whole.len() else None))  # type: ignore[arg-type]
        estimates += [_left(e, whose, limit).named("mixed.headroom", FINDING, **names, resource=measure, limit=whose)
                      for whose, limit in limits if limit]  # fmt: skip
    for e in engine:
        if e.id == "mixed.kv_cache_peak":
            names = {k: e.qualifiers[k] for k in ("boot", "phase")}
            for whose, limit in (("declared", declared.limits.get("kv_cache_usage")), ("machine", 1.0)):
                if limit:
                    said = _left(e, whose, limit)
                    estimates.append(said.named("mixed.headroom", FINDING, **names, resource="kv_cache", limit=whose))
    return estimates


def _left(peak: Estimate, whose: str, limit: float) -> Estimate:
    return Estimate(
        1 - (peak.value or 0) / limit, "1", "census", f"1 less the highest sample over the limit ({whose})", n=peak.n,
        n_of=peak.n_of, reason="census: of the samples there are", evidence=peak.evidence,
    )  # fmt: skip


TARGETS = (
    ("mixed.valid_records_per_hour", "valid_records_per_hour", True),
    ("mixed.goodput", "goodput_share", True),
)
"""Results id, target of a class, and whether more is better."""


def targets(measured: list[Estimate], declared: Objective) -> list[Estimate]:
    """mixed.target_ratio: measured over target, by class and phase; and the queue's p95 over its declared limit.

    `verdict` is reached, missed or cannot_tell: the interval decides, and a figure without one decides nothing.
    """
    estimates = []
    for e in measured:
        for id, key, more in TARGETS:
            target = declared.classes.get(e.qualifiers.get("class", ""), {}).get(key)
            if e.id == id and target and e.qualifiers.get("counted", "all") == "all":
                names = {k: v for k, v in e.qualifiers.items() if k != "counted"}
                estimates.append(_ratio(e, target, more).named("mixed.target_ratio", FINDING, **names, target=key))
        limit = declared.limits.get("queue_s")
        if e.id == "mixed.queue" and e.qualifiers["quantile"] == "p95" and limit:
            names = {k: v for k, v in e.qualifiers.items() if k != "quantile"}
            estimates.append(_ratio(e, limit, False).named("mixed.target_ratio", FINDING, **names, target="queue_s"))
    return estimates


def _ratio(e: Estimate, target: float, more: bool) -> Estimate:
    value, low, high = (None if x is None else x / target for x in (e.value, e.low, e.high))
    verdict = "cannot_tell"
    if low is not None and low >= 1:
        verdict = "reached" if more else "missed"
    elif high is not None and high < 1:
        verdict = "missed" if more else "reached"
    return Estimate(
        value, "x", "estimate", f"{e.method}, over the target {target:g}", low, high, e.confidence, e.n, e.n_of,
        e.assumption, e.reason, e.warnings, e.evidence, verdict=verdict,
    )  # fmt: skip


UNTIL_READY = "until ready"
OF_PROCESS = f"{UNTIL_READY}, {start_ups.PROCESS}"
LOAD = """
    select boot, fact, max(value) as seconds, min(file) as file, min(line) as line, min_by(quote, line) as quote
    from boot_facts where starts_with(fact, 'phase_') and unit = 's' and value is not null group by boot, fact
    order by boot, fact
"""


def load_seconds(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """mixed.load_seconds of each boot: its start-up by part, as its log prints it, and the whole until it was ready.

    The whole from the start of its process is a figure of its own, of the boots that declare it.
    """
    estimates = []
    for boot, fact, seconds, file, line, quote in connection.sql(LOAD).fetchall():
        part = Estimate(
            float(seconds), "s", "census", "printed in the boot log, the slowest process", n=1, n_of="boots",
            reason="census: what this boot's log says", evidence=(Evidence(file, line=line, quote=quote),),
        )  # fmt: skip
        estimates.append(part.named("mixed.load_seconds", FINDING, boot=boot, part=fact.removeprefix("phase_")))
    ready = connection.sql("select boot, ready_s, file from boots order by ordinal, boot").fetchall()
    for boot, seconds, file in ready:
        whole = not_computable("s", "the log does not say when it was ready") if seconds is None else Estimate(
            float(seconds), "s", "census", "from the log's first line with a time to readiness", n=1, n_of="boots",
            reason="census: what this boot's log says", evidence=(Evidence(file),),
        )  # fmt: skip
        estimates.append(whole.named("mixed.load_seconds", FINDING, boot=boot, part=UNTIL_READY))
    return [*estimates, *_of_processes(connection)]


def _of_processes(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    estimates = []
    query = "select boot, process_s, file, line from start_ups where process_s is not null order by boot"
    for boot, seconds, file, line in connection.sql(query).fetchall():
        whole = Estimate(
            float(seconds), "s", "census", f"as declared: {start_ups.PROCESS} to readiness", n=1, n_of="boots",
            reason="census: what is declared of this boot", evidence=(Evidence(file, line=line),),
        )  # fmt: skip
        estimates.append(whole.named("mixed.load_seconds", FINDING, boot=boot, part=OF_PROCESS))
    return estimates
