"""Decode against the hardware: how many decode steps a second the memory allows, and how many there were.

The bandwidth is what study.toml declares for one rank; the weights are what the boot log prints, else what study.toml
declares, which is said.
"""

import json
from dataclasses import replace

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.decode_bandwidth import bandwidth_share, steps_ceiling, steps_per_second
from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.prefill_rate import prefill_rate
from analysis.estimates.ratio_requests import ratio_of_requests
from analysis.estimates.ratio_scrapes import Windows
from analysis.findings.lengths import FINDING, Lengths
from analysis.findings.step_time import ends_of_log, logged, steps
from analysis.findings.time_split import BUSY, Run
from analysis.findings.time_tables import run_of

ACHIEVED, CEILING, SHARE = "decode.steps_per_second", "decode.steps_ceiling", "decode.bandwidth_share"
READ = "decode.read_bytes_per_second"
BANDWIDTH_KEY = "hardware.memory_bandwidth_bytes_per_s"
NO_BANDWIDTH = f"study.toml gives no {BANDWIDTH_KEY}"
NO_WEIGHTS = "the boot log prints no size of weights, and study.toml gives no model.weights_bytes"
DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "half": 2, "float8": 1, "fp8": 1, "int8": 1}
PRINTED_HALF = {"GiB": 0.005 * 2**30, "MiB": 0.005 * 2**20}
"""Half a unit of the second decimal, to which logs print sizes."""
GAPS_NOTE = (
    "one stream's tokens a second: gaps in which others' prompts were processed are inside, so a lower limit of decode"
)


def figures(connection: duckdb.DuckDBPyConnection, runs: list[Run], lengths: list[Lengths]) -> list[Estimate]:
    """Achieved decode steps a second, their ceiling and the achieved share of the bandwidth, of each run."""
    bandwidth, boots = _declared(connection, BANDWIDTH_KEY), set(logged(connection))
    by_name = {each.name: each for each in lengths}
    found = []
    for run in runs:
        achieved = _achieved(connection, run, boots, by_name.get(run.name))
        ceiling = _ceiling(connection, run, bandwidth)
        share = bandwidth_share(achieved, ceiling) if ceiling.value else not_computable("1", _bare(ceiling))
        if not achieved.value:
            share = not_computable("1", _bare(achieved))
        found += [e.named(id, FINDING, **run.qualifiers)
                  for id, e in ((ACHIEVED, achieved), (CEILING, ceiling), (SHARE, share))]  # fmt: skip
        if (read := _estimated_read(connection, run)) is not None:
            found.append(read.named(READ, FINDING, **run.qualifiers))
    return found


def _bare(e: Estimate) -> str:
    return (e.reason or "").removeprefix("not computable: ")


def _achieved(connection: duckdb.DuckDBPyConnection, run: Run, boots: set[str], lengths: Lengths | None) -> Estimate:
    """From the step log's decode-only steps; else from gaps between tokens, the engine's, then the clients'."""
    notes = (
        ("speculative decoding: a step may give several tokens",) if run.total("spec_decode_drafts", "value") else ()
    )
    if run.boot in boots:
        of_boot = steps(connection, run.boot)
        alone = of_boot.filter(pl.col("phase") == "decode_only")
        found = steps_per_second(alone["elapsed_s"].to_numpy())
        return replace(found, picked="step log: steps that only decode").with_evidence(*ends_of_log(of_boot))
    gaps, seconds = run.total("inter_token_latency", "count"), run.total("inter_token_latency")
    if gaps and seconds:
        rate = replace(prefill_rate(_gap_windows(connection, run), gaps, seconds), unit="1/s")
        said = rate.with_warnings(GAPS_NOTE, *notes).with_evidence(*run.evidence.get("inter_token_latency", ()))
        return replace(said, picked="counters: gaps between tokens")
    if lengths is not None and (lengths.requests["decode_s"].sum() or 0) > 0:
        r = lengths.requests
        rate = ratio_of_requests((r["output_tokens"] - 1).to_numpy(), r["decode_s"].to_numpy(), "1/s")
        return replace(rate.with_warnings(GAPS_NOTE, *notes), picked="clients: output tokens over their seconds")
    return not_computable("1/s", "it takes a step log, a histogram of gaps between tokens, or request records")


def _gap_windows(connection: duckdb.DuckDBPyConnection, run: Run) -> Windows:
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (statistic = 'count'), 0)::double as gaps,
            coalesce(sum(increase) filter (statistic = 'sum'), 0)::double as seconds
        from run_windows
        where run = $run and concept = 'inter_token_latency' and statistic in ('sum', 'count') and start_s < end_s
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name},
    ).pl()
    return Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "gaps", "seconds", "gaps", "life")))


def _ceiling(connection: duckdb.DuckDBPyConnection, run: Run, bandwidth: tuple[float, Evidence] | None) -> Estimate:
    weights = _printed_weights(connection, run) or _declared_weights(connection)
    missing = [*([] if bandwidth else [NO_BANDWIDTH]), *([] if weights else [NO_WEIGHTS])]
    if bandwidth is None or weights is None:
        return not_computable("1/s", "; ".join(missing))
    size, half, where, said = weights
    found = steps_ceiling(bandwidth[0], size, half).with_warnings("bandwidth as study.toml declares it", *said)
    return found.with_evidence(bandwidth[1], *where)


def _printed_weights(
    connection: duckdb.DuckDBPyConnection, run: Run
) -> tuple[float, float, tuple[Evidence, ...], tuple[str, ...]] | None:
    """Bytes of the weights of the rank that has most, the printed rounding, and the lines; devices of a rank add up."""
    query = """
        select fact, value, unit, file, line, quote from boot_facts
        where boot = $boot and fact in ('memory_weights', 'device_weights') and value > 0 and unit in ('GiB', 'MiB')
        order by fact desc, line
    """
    rows = connection.sql(query, params={"boot": run.boot}).fetchall()
    if not rows:
        return None
    same = [row for row in rows if row[0] == rows[0][0]]
    scale = {"GiB": 2.0**30, "MiB": 2.0**20}
    sizes = [value * scale[unit] for _, value, unit, *_ in same]
    half = max(PRINTED_HALF[unit] for _, _, unit, *_ in same)
    evidence = tuple(Evidence(file, line=line, quote=quote) for *_, file, line, quote in same[:12])
    if same[0][0] == "device_weights":
        return sum(sizes), half * len(sizes), evidence, ("all devices of the process together",)
    return max(sizes), half, evidence, ()


def _declared_weights(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[float, float, tuple[Evidence, ...], tuple[str, ...]] | None:
    if (size := _declared(connection, "model.weights_bytes")) is not None:
        return size[0], 0.0, (size[1],), ("size of the weights as study.toml declares it: the log does not print it",)
    parameters = _declared(connection, "model.parameters")
    dtypes = connection.sql("select value from study_facts where key = 'model.dtype' order by all limit 1").fetchall()
    width = DTYPE_BYTES.get(str(json.loads(dtypes[0][0])).removeprefix("torch.")) if dtypes else None
    if parameters is None or width is None:
        return None
    note = "size of the weights from study.toml, parameters times bytes of the dtype: the log does not print it"
    return parameters[0] * width, 0.0, (parameters[1],), (note,)


def _declared(connection: duckdb.DuckDBPyConnection, key: str) -> tuple[float, Evidence] | None:
    """A number above zero that study.toml declares under a key, and its line."""
    query = "select file, line, value from study_facts where key = $key order by all limit 1"
    for file, line, value in connection.sql(query, params={"key": key}).fetchall():
        number = json.loads(value)
        if isinstance(number, int | float) and not isinstance(number, bool) and number > 0:
            return float(number), Evidence(file, line=line, series=key)
    return None


def _estimated_read(connection: duckdb.DuckDBPyConnection, run: Run) -> Estimate | None:
    """Bytes that the engine itself estimates it read, over busy seconds; None where it does not estimate (or zero)."""
    read = run.total("estimated_read_bytes", "value")
    busy_s, wall_s = connection.sql(BUSY, params={"run": run.name}).fetchall()[0]
    if not read or not (busy_s or wall_s):
        return None
    reason = "census: the engine's own estimate over this run"
    return Estimate(
        read / (busy_s or wall_s), "bytes/s", "census", "estimated bytes read over busy seconds, one rank", n=1,
        n_of="runs",
        reason=reason, assumption="the engine's formula for bytes read is right; prefill and decode are both inside",
        warnings=("busy seconds hold idle ones of a scrape interval: a lower limit",),
        evidence=run.evidence.get("estimated_read_bytes", ()),
    )  # fmt: skip


def table(found: list[Estimate]) -> pl.DataFrame:
    """One row a run: achieved decode steps a second, the ceiling, the share of the bandwidth, and by what data."""
    names = {ACHIEVED: "decode steps/s", CEILING: "most the memory allows", SHARE: "share of the bandwidth",
             READ: "bytes/s read, as the engine estimates"}  # fmt: skip
    rows: dict[str, dict[str, str | Estimate | Shown]] = {}
    for e in found:
        row = rows.setdefault(run_of(e), {"run": run_of(e)})
        row[names[e.id]] = Shown(e, "not computable") if e.id == SHARE and e.value is None else e
        if e.id == ACHIEVED:
            row["by"] = e.picked
    return cells.frame(rows.values(), dict.fromkeys(("run", *names.values(), "by"), pl.String))
