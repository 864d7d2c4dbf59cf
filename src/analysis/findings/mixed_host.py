"""Memory, swap, power and temperature by phase, from host counters, and the energy of a task."""

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.estimates.rates import energy_per_task
from analysis.findings.frames import rows
from analysis.findings.mixed_traffic import FINDING
from analysis.findings.objective import Objective
from analysis.findings.phase_spans import Span

SAMPLES = "select * from host_samples where boot is not null order by boot, measure, at_s, device"
ENERGY_BLOCKS = 5
MEASURES: dict[str, tuple[str, str, str]] = {
    "engine_memory": ("bytes", "sum", "RAM of the engine"),
    "memory_used": ("bytes", "sum", "RAM in use on the host"),
    "device_memory_used": ("bytes", "sum", "device memory (VRAM) in use"),
    "swap_used": ("bytes", "sum", "swap in use"),
    "power": ("W", "sum", "power"),
    "temperature": ("Cel", "max", "temperature"),
}
"""What is reported by phase: unit, how devices are combined, and what a reader calls it."""


def samples(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a boot, time and measure, devices combined; memory in use is total less available where not given."""
    table = rows(connection, SAMPLES)
    how = pl.col("measure").replace_strict({m: h for m, (_, h, _) in MEASURES.items()}, default="max")
    both = table.group_by("boot", "file", "measure", "at_s", maintain_order=True).agg(
        pl.col("line").min(), total=pl.col("value").sum(), most=pl.col("value").max()
    )
    both = both.with_columns(value=pl.when(how == "sum").then("total").otherwise("most"))
    both = both.select("boot", "file", "line", "measure", "at_s", "value")
    wide = both.filter(measure="memory_total").join(
        both.filter(measure="memory_available"), on=["boot", "file", "at_s"], suffix="_free", maintain_order="left"
    )
    used = wide.select("boot", "file", "line", pl.lit("memory_used").alias("measure"), "at_s",
                       value=pl.col("value") - pl.col("value_free"))  # fmt: skip
    stated = both.filter(measure="memory_used").select("boot").unique()
    return pl.concat([both, used.join(stated, on="boot", how="anti")])


def peaks(table: pl.DataFrame, found: list[Span]) -> list[Estimate]:
    """mixed.host_peak of each phase and measure that was sampled: the highest sample, and where it stands."""
    estimates = []
    for span in found:
        for measure, (unit, _, _) in MEASURES.items():
            mine = _inside(table, span, measure)
            if not mine.height:
                continue
            top = mine.row(int(mine["value"].arg_max() or 0), named=True)
            peak = Estimate(
                float(top["value"]), unit, "census", "highest of the samples", n=mine.height, n_of="samples",
                reason="census: between two samples it may have been higher", evidence=(_line(top),),
            )  # fmt: skip
            estimates.append(peak.named("mixed.host_peak", FINDING, boot=span.boot, phase=span.phase, measure=measure))
    return estimates


def energy(
    connection: duckdb.DuckDBPyConnection, table: pl.DataFrame, found: list[Span], declared: Objective
) -> list[Estimate]:
    """mixed.energy_per_task of each phase: power over time by the completed requests, in five blocks of time.

    The interval is that of sampling blocks; the meter's own error does not average out and is a sensitivity of its own.
    """
    estimates = []
    for span in found:
        mine = _inside(table, span, "power").sort("at_s")
        if mine.height < 2:
            missing = not_computable("J", "power was not sampled (host counter with unit W, as power_w)")
            estimates.append(missing.named("mixed.energy_per_task", FINDING, boot=span.boot, phase=span.phase))
            continue
        ended = rows(connection, ENDED).filter((pl.col("boot") == span.boot) & (pl.col("phase") == span.phase))
        estimate = _per_task(mine["at_s"].to_numpy(), mine["value"].to_numpy(), ended["end_s"].to_numpy(), declared)
        said = estimate.with_warnings("gross: idle power is inside").with_evidence(_line(mine.row(0, named=True)))
        estimates.append(said.named("mixed.energy_per_task", FINDING, boot=span.boot, phase=span.phase))
    return estimates


ENDED = "select boot, phase, end_s from class_requests where is_completed and end_s is not null order by all"


def _per_task(at: np.ndarray, watts: np.ndarray, ended: np.ndarray, declared: Objective) -> Estimate:
    edges = np.linspace(at[0], at[-1], ENERGY_BLOCKS + 1)
    reach = np.concatenate(([0.0], np.cumsum((watts[1:] + watts[:-1]) / 2 * np.diff(at))))
    joules = np.diff(np.interp(edges, at, reach))
    tasks = np.histogram(ended, edges)[0].astype(float)
    gap = float(np.median(np.diff(at)))
    if (tasks == 0).any():
        total = float(tasks.sum())
        if not total:
            return not_computable("J", "no request ended while power was sampled")
        return no_interval(float(joules.sum()) / total, "J", "energy over completed requests", "a block without a task")
    estimate = energy_per_task(joules, tasks, declared.meter_error or 0.0)
    notes = [f"power sampled every {gap:.3g} s: shorter peaks are not seen"]
    if declared.meter_error is None:
        notes.append("the meter's error was not declared (study.toml, energy.meter_error) and is in no interval")
        estimate = replace(estimate, sensitivity={})
    return estimate.with_warnings(*notes)


def _inside(table: pl.DataFrame, span: Span, measure: str) -> pl.DataFrame:
    return table.filter(
        (pl.col("boot") == span.boot) & (pl.col("measure") == measure)
        & pl.col("at_s").is_between(span.start_s, span.end_s)
    )  # fmt: skip


def _line(row: dict[str, Any]) -> Evidence:
    return Evidence(str(row["file"]), line=int(row["line"]), series=str(row["measure"]))
