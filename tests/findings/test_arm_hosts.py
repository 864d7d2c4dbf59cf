"""The host as a condition of arms: its load average, CPUs and memory, where the study has host samples."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from simulated_arms import START, Boot, write
from test_arms import of_study, ratio

from analysis.findings import arm_conditions, arm_tables, arm_verdicts, arms
from analysis.findings.arm_conditions import HOST_CPUS, HOST_LOAD, HOST_MEMORY
from analysis.study import Study

GIB = 2**30
Row = dict[str, str]


def hosts(folder: Path, loads: Mapping[str, Sequence[float]], cpus: str = "cpus = 2", memory: int = 32 * GIB) -> Path:
    """A study of boots A1 and B1; the load averages of each boot's host samples, by the boot's name."""
    write(folder, [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0)], f"[hardware]\n{cpus}\n")
    (folder / "host").mkdir()
    for boot, averages in loads.items():
        total = memory if boot == "B1" else 32 * GIB
        rows = [{"t": START + i, "load1": load, "mem_total": total} for i, load in enumerate(averages)]
        (folder / "host" / f"{boot}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def table(of: arms.Arms) -> dict[str, Row]:
    return {row["condition"]: row for row in arm_conditions.table(of).iter_rows(named=True)}


def test_an_arm_that_began_on_a_loaded_machine_is_told() -> None:
    """First lines of host/S512.jsonl and host/S8192.jsonl by hand: load1 37.527 and 1.353, on two CPUs of 23.5 GiB."""
    of = arms.of(Study("vllm-cpu-mixed").connection)
    rows = table(of)
    assert [rows[HOST_LOAD][c] for c in ("alike", "mnbt512", "mnbt8192")] == ["no", "18.8", "0.7"]
    assert [rows[HOST_CPUS][c] for c in ("alike", "mnbt512", "mnbt8192")] == ["yes", "2", "2"]
    assert [rows[HOST_MEMORY][c] for c in ("alike", "mnbt512", "mnbt8192")] == ["yes", "23.5", "23.5"]
    found = arm_verdicts.verdicts(of)
    unlike = {e.qualifiers["measure"] for e in found if any(HOST_LOAD in w for w in e.warnings)}
    there = {e.qualifiers["measure"] for e in found}
    assert unlike == there - {"pool", "available", "engine_memory"}  # what a boot prints does not depend on its load
    assert HOST_LOAD in arm_tables.unless(of, found)


def test_machines_that_both_were_idle_are_alike() -> None:
    row = table(arms.of(Study("vllm-cpu-iterations").connection))[HOST_LOAD]
    assert [row[c] for c in ("alike", "mnbt512", "mnbt8192")] == ["yes", "0.5", "0.6"]


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [(0.2, 2.0, "yes"), (2.0, 2.5, "yes"), (2.0, 2.52, "no"), (20.0, 25.0, "yes"), (20.0, 25.2, "no"), (0.1, 75, "no")],
)
def test_tasks_for_each_cpu_differ_by_a_fifth_at_most(tmp_path: Path, first: float, second: float, alike: str) -> None:
    """On two CPUs; only the first sample counts."""
    of = of_study(hosts(tmp_path / "study", {"A1": [first, 90.0], "B1": [second, 0.0]}))
    row = table(of)[HOST_LOAD]
    assert [row[c] for c in ("alike", "A", "B")] == [alike, f"{first / 2:.1f}", f"{second / 2:.1f}"]


def test_without_host_samples_nothing_is_claimed(tmp_path: Path) -> None:
    none = of_study(hosts(tmp_path / "none", {}))
    assert not table(none).keys() & arm_conditions.HOST
    half = of_study(hosts(tmp_path / "half", {"A1": [9.0]}))
    assert {table(half)[name]["alike"] for name in arm_conditions.HOST} == {"not stated"}
    for of in (none, half):
        assert not any("host" in w for e in arm_verdicts.verdicts(of) for w in e.warnings)


def test_a_load_without_cpus_is_shown_and_not_judged(tmp_path: Path) -> None:
    rows = table(of_study(hosts(tmp_path / "study", {"A1": [0.2], "B1": [75.0]}, cpus="")))
    texts = ["0.2 in all, CPUs not stated", "75.0 in all, CPUs not stated"]
    assert [rows[HOST_LOAD][c] for c in ("alike", "A", "B")] == ["not stated", *texts]
    assert HOST_CPUS not in rows


def test_memory_of_the_host_within_a_hundredth(tmp_path: Path) -> None:
    for share, alike in ((0.991, "yes"), (0.985, "no")):
        study = hosts(tmp_path / alike, {"A1": [1.0], "B1": [1.0]}, memory=int(share * 32 * GIB))
        of = of_study(study)
        assert table(of)[HOST_MEMORY]["alike"] == alike
        unlike = [any(HOST_MEMORY in w for w in ratio(arm_verdicts.verdicts(of), "B", m).warnings)
                  for m in ("available", "start_up", "completed_per_hour")]  # fmt: skip
        assert unlike == [alike == "no"] * 3


def test_two_studies_on_other_machines_are_not_alike(tmp_path: Path) -> None:
    loads = {"A1": [1.0], "B1": [1.0]}
    first = of_study(hosts(tmp_path / "first", loads))
    second = of_study(hosts(tmp_path / "second", loads, cpus="cpus = 64"))
    both = arms.together(first, second, ("first", "second"))
    row = table(both)[HOST_CPUS]
    assert [row[c] for c in ("alike", "first: A", "second: A")] == ["no", "2", "64"]
