"""Whether decode slowed down (or sped up) while the load stayed the same: streams of one class and phase, by block."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.estimates.drift import ALPHA, drift, holm
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.findings.class_groups import Group
from analysis.findings.degradation import FINDING, Look, moment


@dataclass(frozen=True, slots=True)
class GroupDrift:
    """The drift of one group: `change` with its names, the adjusted p, when it began, and the blocks for the chart."""

    group: Group
    change: Estimate
    p: float | None
    began_s: float | None
    blocks: pl.DataFrame


def drifts(found: list[Group]) -> list[GroupDrift]:
    """The drift of the decode rate of every group that completed requests, p adjusted over all of them (Holm)."""
    raw = []
    for group in found:
        rate, block = group.column("decode_rate")
        if not len(rate):
            continue
        start = group.done["start_s"].to_numpy()
        each = np.unique(block)
        medians = np.array([np.median(rate[block == b]) for b in each])
        at = np.array([np.median(start[group.block == b]) for b in each])
        raw.append((group, drift(medians, at), pl.DataFrame({"at_s": at, "rate": medians})))
    tested = [d.p for _, d, _ in raw if d.p is not None]
    adjusted = iter(holm(tested))
    drifted = []
    for group, found_drift, table in raw:
        p = next(adjusted) if found_drift.p is not None else None
        shown = p is not None and p < ALPHA and found_drift.began is not None
        began = float(table.sort("at_s")["at_s"][found_drift.began or 0]) if shown else None
        notes = [] if p is None else [f"step somewhere in the phase: p = {p:.2g} after Holm over {len(tested)} tests"]
        said = found_drift.change.with_warnings(*notes).with_evidence(*group.evidence)
        named = said.named("degradation.decode_drift", FINDING, **group.qualifiers)
        drifted.append(GroupDrift(group, named, p, began, table))
    return drifted


def looks(drifted: list[GroupDrift]) -> list[Look]:
    """Each drift as a look: found where a step is shown, not found where the test was made, else it could not be."""
    listed = []
    for d in drifted:
        where = f"drift of decode, {d.group.name} in {d.group.phase}"
        said = f"end over beginning {show(d.change)}" + ("" if d.p is None else f", p = {d.p:.2g}")
        unix = d.group.done["clock"][0] == "unix"
        if d.p is None:
            listed.append(Look(d.group.place, where, None, d.change.reason or "no test", estimate=d.change))
        elif d.began_s is None:
            listed.append(Look(d.group.place, where, False, said, estimate=d.change))
        else:
            when = moment(d.began_s) if unix else "a clock of its own"
            listed.append(Look(d.group.place, where, True, said, when, d.group.evidence, estimate=d.change))
    return listed


def frame(drifted: list[GroupDrift]) -> pl.DataFrame:
    """One row a block: group (boot, class, phase), minutes from the first block, tokens/s of the median stream."""
    rows = [
        (f"{d.group.place} {d.group.name}, {d.group.phase}", (at - min(d.blocks["at_s"])) / 60, rate)
        for d in drifted if d.blocks.height > 1 for at, rate in d.blocks.sort("at_s").iter_rows()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={"group": pl.String, "minutes": pl.Float64, "rate": pl.Float64}, orient="row")


def describe(drifted: list[GroupDrift]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of decode rates."""
    tested = [d for d in drifted if d.p is not None]
    found = [d for d in tested if d.began_s is not None]
    names = [f"{d.group.place} {d.group.name}, {d.group.phase}: {show(d.change)}" for d in drifted]
    title = f"Decode drifted in {len(found)} of {len(tested)} phases that could be tested"
    return {
        "title": title if tested else "No phase has the blocks that a test of drift takes",
        "subtitle": "tokens/s of the median stream, a point a block of time; one panel a boot, class and phase",
        "description": "Decode rate along each phase, end over beginning. " + ("; ".join(names) or "no data"),
    }
