"""Whether engine steps that only decode took as long in each boot of a study, at equal numbers of requests.

The load average does not show a slow or shared CPU; the engine's own seconds for the same work do.
"""

from dataclasses import dataclass

import duckdb
import polars as pl

from analysis.estimates.estimate import Evidence
from analysis.estimates.rounding import show_number
from analysis.findings import arm_knobs
from analysis.findings.degradation import Look

WHAT = "decode-only step time"
LIMIT = 1.25
"""Medians of the same work that are further apart than this are called different."""
LEAST_STEPS = 20
"""Fewest steps of a boot at one number of requests that a median is taken of (as in the view boot_conditions)."""
OF_PROMPTS = frozenset({"max_num_batched_tokens", "max_num_partial_prefills", "long_prefill_token_threshold"})
"""Settings of how prompts are cut: a step without a prompt does not depend on them."""
MEDIANS = """
    select boot, generation_requests as requests, count(*)::bigint as steps, median(elapsed_s)::double as median_s,
        min(file) as file, min(line) as line
    from step_phases where phase = 'decode_only' and elapsed_s > 0
    group by boot, generation_requests having count(*) >= $least order by boot, requests
"""


@dataclass(frozen=True, slots=True)
class Apart:
    """Median seconds of decode-only steps of one boot and of the first, where both have most: at `requests` each.

    `ratio` is this boot over the first; `least` and `most` are its range over all numbers of requests that both had.
    """

    boot: str
    first: str
    requests: int
    median_s: float
    first_s: float
    steps: int
    first_steps: int
    least: float
    most: float
    evidence: Evidence

    @property
    def ratio(self) -> float:
        """The median of the boot over that of the first."""
        return self.median_s / self.first_s


def compare(connection: duckdb.DuckDBPyConnection) -> list[Apart]:
    """Each boot that logged steps against the first that did, at the number of requests at which both have most."""
    table = connection.sql(MEDIANS, params={"least": LEAST_STEPS}).pl()
    order = connection.sql("select boot from boots order by ordinal, file, boot").fetchall()
    boots = [boot for (boot,) in order if boot in set(table["boot"])]
    found = []
    for boot in boots[1:]:
        both = table.filter(boot=boot).join(table.filter(boot=boots[0]), on="requests", suffix="_first")
        if both.is_empty():
            continue
        each = (both["median_s"] / both["median_s_first"]).to_list()
        fewest = pl.min_horizontal("steps", "steps_first")
        row = both.sort(fewest, "requests", descending=[True, False]).row(0, named=True)
        shown = Evidence(row["file"], line=row["line"], window=f"decode-only steps of {_requests(row['requests'])}")
        found.append(Apart(boot, boots[0], row["requests"], row["median_s"], row["median_s_first"], row["steps"],
                           row["steps_first"], min(each), max(each), shown))  # fmt: skip
    return found


def looks(connection: duckdb.DuckDBPyConnection) -> list[Look]:
    """Each boot but the first: found where its decode-only steps took 1.25 times as long, or as much less."""
    found, knobs = {apart.boot: apart for apart in compare(connection)}, arm_knobs.knobs(connection)
    why = "no two boots log their steps (vLLM: --enable-logging-iteration-details) at equal numbers of requests"
    if found:
        why = f"no {LEAST_STEPS} steps logged at a number of requests that {next(iter(found.values())).first} had too"
    rows = connection.sql("select boot from boots order by ordinal, file, boot").fetchall()
    held = {apart.first for apart in found.values()}
    return [
        _look(found[boot], knobs) if boot in found else Look(boot, WHAT, None, why)
        for (boot,) in rows if boot not in held
    ]  # fmt: skip


def _look(apart: Apart, knobs: arm_knobs.Knobs) -> Look:
    here, there = (show_number(s, "s", digits=3) for s in (apart.median_s, apart.first_s))
    said = (
        f"with {_requests(apart.requests)}, median {here} of {apart.steps} steps, {there} of {apart.first_steps} in "
        f"{apart.first}; {apart.least:.1f} to {apart.most:.1f} times by number of requests"
    )
    if 1 / LIMIT <= apart.ratio <= LIMIT:
        return Look(apart.boot, WHAT, False, f"{said}: within {LIMIT:g} times")
    what = f"decode-only steps {apart.ratio:.1f} times as long as in {apart.first}"
    return Look(apart.boot, what, True, said, "", (apart.evidence,), _means(apart, knobs))


def _means(apart: Apart, knobs: arm_knobs.Knobs) -> str:
    """What the difference can be due to: the settings in which the two boots differ, or the machine."""
    first, boot = [apart.first], [apart.boot]
    changed = arm_knobs.differing(knobs, first, boot)
    if not (arm_knobs.is_known(knobs, first) and arm_knobs.is_known(knobs, boot)):
        return "whether their settings differ is not known: the machine may not have been the same"
    if others := [knob for knob in changed if knob not in OF_PROMPTS]:
        return f"the boots differ in {', '.join(others)}: that, longer contexts, or a machine that was not the same"
    same = f"they differ in {', '.join(changed)}, which no such step depends on" if changed else "no setting differs"
    return f"{same}: unless contexts were longer, the machine was not the same, and no ratio is due to a setting alone"


def _requests(n: int) -> str:
    return f"{n} request{'' if n == 1 else 's'}"
