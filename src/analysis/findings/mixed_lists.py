"""Tables of page 60: requests, peaks, start-up, the objective, and what is missing. Laid out, nothing computed anew."""

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.findings import start_ups
from analysis.findings.class_groups import Group
from analysis.findings.mixed_headroom import OF_PROCESS, UNTIL_READY
from analysis.findings.mixed_host import MEASURES
from analysis.findings.mixed_tables import figure, place_of, why_none
from analysis.findings.objective import Objective


def plain_table(estimates: list[Estimate], *columns: str) -> pl.DataFrame:
    """One row an estimate: its qualifiers by name, the figure, its units and what to know with it."""
    rows = [
        (*(e.qualifiers.get(c, place_of(e) if c == "boot" else "") for c in columns), figure(e), why_none(e),
         f"{e.n} {e.n_of}" if e.n is not None else "", "; ".join(e.warnings))
        for e in estimates
    ]  # fmt: skip
    names = (*(c.replace("_", " ") for c in columns), "figure", "no interval because", "n", "notes")
    return cells.frame(rows, dict.fromkeys(names, pl.String))


def peak_table(peaks: list[Estimate], engine: list[Estimate], headroom: list[Estimate]) -> pl.DataFrame:
    """One row a boot, phase and resource: its highest sample, and the headroom below each limit."""
    left = {(place_of(e), e.qualifiers["phase"], e.qualifiers["resource"], e.qualifiers["limit"]): e for e in headroom}
    rows = []
    for e in [*peaks, *engine]:
        resource = e.qualifiers.get("measure") or ("kv_cache" if e.id == "mixed.kv_cache_peak" else "")
        what = MEASURES[resource][2] if resource in MEASURES else RESOURCES[e.qualifiers.get("state", "kv_cache")]
        key = (place_of(e), e.qualifiers["phase"])
        rows.append(
            (
                *key,
                what,
                e,
                *(left.get((*key, resource, limit), "") for limit in ("declared", "machine")),
                str(e.n),
            )
        )
    columns = ("boot", "phase", "resource", "peak", "headroom (declared)", "headroom (machine)", "samples")
    return cells.frame(rows, dict.fromkeys(columns, pl.String))


RESOURCES = {"waiting": "requests waiting", "running": "requests running", "kv_cache": "KV cache in use"}


def load_table(load: list[Estimate]) -> pl.DataFrame:
    """One row a boot: the parts of its start-up that its log prints, and the whole, from both its beginnings."""
    wholes = {UNTIL_READY: f"{UNTIL_READY}, {start_ups.LOG}", OF_PROCESS: OF_PROCESS}
    parts = list(dict.fromkeys(e.qualifiers["part"] for e in load))
    rows: dict[str, dict[str, str | Estimate]] = {}
    for e in load:
        row = rows.setdefault(e.qualifiers["boot"], {"boot": e.qualifiers["boot"]})
        part = e.qualifiers["part"]
        row[wholes.get(part, part.replace("_", " "))] = e
    names = [part.replace("_", " ") for part in parts if part not in wholes]
    names += [name for part, name in wholes.items() if part in parts]
    return cells.frame(rows.values(), dict.fromkeys(("boot", *names), pl.String)).sort("boot")


def request_table(outcomes: list[Estimate]) -> pl.DataFrame:
    """One row a place, class and phase: how its requests ended, counted."""
    names = list(dict.fromkeys(e.qualifiers["outcome"] for e in outcomes))
    rows: dict[tuple[str, str, str], dict[str, str | Shown]] = {}
    for e in outcomes:
        key = (place_of(e), e.qualifiers["class"], e.qualifiers["phase"])
        row = rows.setdefault(key, dict(zip(("boot", "class", "phase"), key, strict=True)))
        row[e.qualifiers["outcome"]] = Shown(e, int(e.value or 0), "value")
    schema = {**dict.fromkeys(("boot", "class", "phase"), pl.String), **dict.fromkeys(names, pl.Int64)}
    return cells.frame(rows.values(), schema)


def server_table(server: list[Estimate]) -> pl.DataFrame:
    """One row a boot, phase and part (queue, prefill): the mean of its requests, p50 and p95 between bucket edges."""
    rows: dict[tuple[str, str, str], dict[str, str | Shown]] = {}
    for e in server:
        key = (place_of(e), e.qualifiers["phase"], e.id.removeprefix("mixed."))
        row = rows.setdefault(key, dict(zip(("boot", "phase", "part"), key, strict=True)))
        known = e.value is not None or e.low is not None
        row[e.qualifiers["quantile"]] = figure(e) if known else Shown(e, e.reason)
        row["requests"] = "" if e.n is None else str(e.n)
    columns = ("boot", "phase", "part", "mean", "p50", "p95", "requests")
    return cells.frame(rows.values(), dict.fromkeys(columns, pl.String))


def objective_table(objective: Objective) -> pl.DataFrame:
    """One row for each thing that was declared; one row that says what it means where nothing was."""
    return pl.DataFrame(objective.lines(), schema={"declared": pl.String, "as": pl.String}, orient="row")


def missing_table(there: dict[str, bool]) -> pl.DataFrame:
    """One row for each thing that a measurement of mixed traffic must record and this study lacks; how to record it."""
    rows = [(what, how) for what, how in RECORD.items() if not there.get(what, False)]
    return pl.DataFrame(rows, schema={"missing": pl.String, "how to record it": pl.String}, orient="row")


RECORD = {
    "class and phase of each request": "send `class` and `phase` in the trace, or name files by class in study.toml",
    "queue wait and prefill by phase": "scrape /metrics every few seconds, into a folder of the boot's name",
    "token arrivals": "stream the answers and write `token_at` and `tokens_cum`",
    "valid records": "judge each output and write `valid`; that it parses is not enough",
    "retries, abstentions and repairs": "write `outcome` (pass, retry, abstain, repair) and `attempt` in the trace",
    "declared objective": "study.toml, [objective], before the measurement",
    "model load or activation": "keep the boot log",
    **{name: f"sample it on the host every second or two as JSON Lines (`{key}`)" for key, name in (
        ("engine_rss", MEASURES["engine_memory"][2]), ("mem_used", MEASURES["memory_used"][2]),
        ("gpus[].mem_used_mib", MEASURES["device_memory_used"][2]), ("swap_used", MEASURES["swap_used"][2]),
        ("power_w", MEASURES["power"][2]), ("gpus[].temp_c", MEASURES["temperature"][2]))},
}  # fmt: skip
"""What M5 asks for, and how to record it."""


def there(found: list[Group], objective: Objective, *estimates: list[Estimate]) -> dict[str, bool]:
    """Which of RECORD the study has, by what could be computed."""
    known = [e for part in estimates for e in part if e.value is not None or e.low is not None]
    ids = {e.id for e in known}
    hosts = {e.qualifiers.get("measure") for e in known if e.id == "mixed.host_peak"}
    return {
        "class and phase of each request": bool(found) and any(g.phase != "all" for g in found),
        "queue wait and prefill by phase": {"mixed.queue", "mixed.prefill"} <= ids,
        "token arrivals": "mixed.inter_token" in ids,
        "valid records": "mixed.valid_records_per_hour" in ids,
        "retries, abstentions and repairs": any(g.requests["outcome"].drop_nulls().len() for g in found),
        "declared objective": objective.declared,
        "model load or activation": "mixed.load_seconds" in ids,
        **{name: key in hosts for key, (_, _, name) in MEASURES.items()},
    }
