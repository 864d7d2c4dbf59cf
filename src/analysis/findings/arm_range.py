"""How far the arms of a study lie apart in the throughput that load generators stated, and whether that is shown."""

import duckdb

from analysis.estimates import compare
from analysis.estimates.estimate import Estimate, Evidence
from analysis.findings import ask, facts_requests
from analysis.findings.token_pool import arms

FINDING = "90-takeaways"
RANGE = "arms.range"
MEASURE = "output_throughput"
_WEAKEST = ("no_replicates", "cannot_tell", "different", "equivalent")


def ranges(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """arms.range: the largest over the smallest arm's mean throughput, less one; verdict: the weakest of all pairs."""
    values: dict[str, list[float]] = {}
    files: list[str] = []
    places, found = arms(connection), facts_requests.facts(connection).get("requests", {})
    for run in found.get("runs", [found] if found else []):
        arm = next((places[part] for part in run["file"].split("/") if part in places), None)
        if arm is not None and (rate := run.get(MEASURE)):
            values.setdefault(arm, []).append(rate)
            files.append(run["file"])
    if len(values) < 2:
        return []
    means = [sum(of_arm) / len(of_arm) for of_arm in values.values()]
    verdict = _verdict(list(values.values()), ask.declared_margin(connection))
    single = sum(len(of_arm) == 1 for of_arm in values.values())
    notes = (f"{single} of {len(values)} arms have one run: how runs scatter was not measured",) if single else ()
    return [
        Estimate(
            max(means) / min(means) - 1, "1", "census", "largest over smallest arm, less one", n=len(values),
            n_of="arms", reason="census: these runs only", verdict=verdict, warnings=notes,
            evidence=tuple(Evidence(file) for file in files),
        ).named(RANGE, FINDING, measure=MEASURE)
    ]  # fmt: skip


def _verdict(arms: list[list[float]], margin: float | None) -> str:
    pairs = ((a, b) for at, a in enumerate(arms) for b in arms[at + 1 :])
    verdicts = {compare.compare(a, b, margin=margin).verdict or "cannot_tell" for a, b in pairs}
    return next(verdict for verdict in _WEAKEST if verdict in verdicts)
