"""Parquet out and in: the same answers from the exported tables as from the raw study."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from polars.testing import assert_frame_equal

from analysis.store import parquet
from analysis.store.parquet import ExportError
from analysis.study import Study
from tests.conftest import copy_boots, run_analysis


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two boots of the recorded study with everything that belongs to them, and its export."""
    raw = copy_boots(tmp_path_factory.mktemp("raw") / "study", ["A2", "R1"])
    out = tmp_path_factory.mktemp("out") / "study"
    run = run_analysis("export", str(raw), "--out", str(out))
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(out)
    return raw, out


def test_results_of_the_export_are_those_of_the_raw_study(exported: tuple[Path, Path], tmp_path: Path) -> None:
    results: list[dict[str, Any]] = []
    for number, data in enumerate(exported):
        out = tmp_path / str(number)
        run = run_analysis("report", str(data), "--out", str(out))
        assert run.returncode == 0, run.stderr
        results.append(json.loads((out / "results.json").read_text()))
    raw, tables = results
    assert raw["generated_from"].pop("place") != tables["generated_from"].pop("place")
    assert len(raw["estimates"]) > 20
    assert tables == raw


def test_the_dictionary_says_what_every_column_is(exported: tuple[Path, Path]) -> None:
    _, out = exported
    words = json.loads((out / "dictionary.json").read_text())
    assert set(words["tables"]) == {file.stem for file in out.glob("*.parquet")}
    assert words["tables"]["samples"]["grain"] == "one row per sample"
    for name, table in words["tables"].items():
        described = duckdb.sql(f"describe from '{out / name}.parquet'").fetchall()
        assert [(c["name"], c["type"]) for c in table["columns"]] == [(row[0], row[1]) for row in described]
        assert table["rows"] == duckdb.sql(f"select count(*) from '{out / name}.parquet'").fetchall()[0][0]
    comments = {c["name"]: c["comment"] for c in words["tables"]["boots"]["columns"]}
    assert comments["outcome"] == "served | refused | crashed | unknown"


def test_large_tables_stay_in_their_files_and_may_be_several(exported: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / "it's split"  # a quote in a path is no end of a text
    shutil.copytree(exported[1], copy)
    (copy / "samples").mkdir()
    source = str(copy / "samples.parquet").replace("'", "''")
    for part in (0, 1):
        target = str(copy / "samples" / f"{part}.parquet").replace("'", "''")
        duckdb.sql(f"copy (from '{source}' where page % 2 = {part}) to '{target}'")
    (copy / "samples.parquet").unlink()
    totals = "from run_totals order by all"
    study = Study(copy)
    # Sums of floats in another order of files.
    assert_frame_equal(study.sql(totals), Study(exported[0]).sql(totals), rel_tol=1e-12)
    assert study.sql("select count(*) from duckdb_tables() where table_name = 'samples'").item() == 0


def test_nothing_is_overwritten(exported: tuple[Path, Path]) -> None:
    with pytest.raises(ExportError, match="nothing is overwritten"):
        parquet.export(Study(exported[0]).connection, exported[1])


@pytest.mark.parametrize("fault", ["cut", "column", "missing"])
def test_damaged_tables_are_said_so(fault: str, exported: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / "damaged"
    shutil.copytree(exported[1], copy)
    file = copy / "samples.parquet"
    if fault == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    elif fault == "column":
        duckdb.sql(f"copy (select page, series from '{exported[1]}/samples.parquet') to '{file}'")
    else:
        (copy / "files.parquet").unlink()
    run = run_analysis("facts", str(copy))
    assert run.returncode == 1
    assert len(run.stderr.strip().splitlines()) == 1
    assert {"cut": "cannot be read", "column": "lacks line, value", "missing": "files.parquet is missing"}[
        fault
    ] in run.stderr
