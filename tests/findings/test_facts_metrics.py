"""The metrics section of facts against the hand-checked cases, from the files up."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings import facts_metrics
from analysis.store.load import load

CASES = Path(__file__).parents[1] / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.name.startswith(("metrics-", "study-")))
NOT_COMPARED = {"notes", "accepted_alternative"}


def differences(want: Any, got: Any, path: str) -> Iterator[str]:
    if isinstance(want, dict) and isinstance(got, dict):
        for key in want.keys() - NOT_COMPARED:
            yield from differences(want[key], got[key], f"{path}.{key}") if key in got else [f"{path}.{key} is missing"]
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for position, (one, other) in enumerate(zip(want, got, strict=True)):
            yield from differences(one, other, f"{path}[{position}]")
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)) and not isinstance(want, bool):
        if isinstance(got, bool) or not math.isclose(want, got, rel_tol=1e-6, abs_tol=1e-9):
            yield f"{path}: wanted {want}, got {got}"
    elif want != got:
        yield f"{path}: wanted {want!r}, got {got!r}"


def metrics(study: Path, tmp_path: Path) -> dict[str, Any]:
    load(study, tmp_path / "store.duckdb")
    with duckdb.connect(str(tmp_path / "store.duckdb"), read_only=True) as connection:
        found = facts_metrics.facts(connection)
    assert found is not None
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, tmp_path: Path) -> None:
    want = json.loads((CASES / name / "expected.json").read_text())["metrics"]
    assert list(differences(want, metrics(CASES / name, tmp_path), "metrics")) == []


def test_there_are_as_many_cases_as_were_written() -> None:
    assert len(NAMES) == 22


def test_a_study_without_pages_has_no_metrics_section(tmp_path: Path) -> None:
    load(CASES / "boot-v1-clean", tmp_path / "store.duckdb")
    with duckdb.connect(str(tmp_path / "store.duckdb"), read_only=True) as connection:
        assert facts_metrics.facts(connection) is None
