"""How far the arms of a study lie apart in the throughput that load generators stated, and whether that is shown."""

from pathlib import PurePosixPath

import duckdb

from analysis.estimates import compare
from analysis.estimates.estimate import Estimate, Evidence
from analysis.findings import facts_requests
from analysis.findings.arms import declared_margin
from analysis.findings.token_pool import arms

FINDING = "90-takeaways"
RANGE = "arms.range"
MEASURE = "output_throughput"
_WEAKEST = ("no_replicates", "cannot_tell", "different", "equivalent")

Runs = dict[str, list[tuple[float, str]]]


def ranges(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """arms.range of each load: the largest over the smallest arm's mean throughput, less one.

    A load is what its result files are called (bench-chat); runs of two loads are no replicates of each other. The
    verdict is the weakest of all pairs of arms, against the declared margin.
    """
    places, found = arms(connection), facts_requests.facts(connection).get("requests", {})
    loads: dict[str, Runs] = {}
    for run in found.get("runs", [found] if found else []):
        arm = next((places[part] for part in run["file"].split("/") if part in places), None)
        if arm is not None and (rate := run.get(MEASURE)):
            load = PurePosixPath(run["file"]).name.partition(".")[0]
            loads.setdefault(load, {}).setdefault(arm, []).append((rate, run["file"]))
    margin = declared_margin(connection)
    return [_range(runs, load, margin) for load, runs in sorted(loads.items()) if len(runs) > 1]


def _range(runs: Runs, load: str, margin: float | None) -> Estimate:
    rates = [[rate for rate, _ in of_arm] for of_arm in runs.values()]
    means = [sum(of_arm) / len(of_arm) for of_arm in rates]
    single = sum(len(of_arm) == 1 for of_arm in rates)
    notes = (f"{single} of {len(rates)} arms have one run: how runs scatter was not measured",) if single else ()
    return Estimate(
        max(means) / min(means) - 1, "1", "census", "largest over smallest arm, less one", n=len(rates),
        n_of="arms", reason="census: these runs only", verdict=_verdict(rates, margin), warnings=notes,
        evidence=tuple(Evidence(file) for of_arm in runs.values() for _, file in of_arm),
    ).named(RANGE, FINDING, measure=MEASURE, load=load)  # fmt: skip


def _verdict(arms: list[list[float]], margin: float | None) -> str:
    pairs = ((a, b) for at, a in enumerate(arms) for b in arms[at + 1 :])
    verdicts = {compare.compare(a, b, margin=margin).verdict or "cannot_tell" for a, b in pairs}
    return next(verdict for verdict in _WEAKEST if verdict in verdicts)
