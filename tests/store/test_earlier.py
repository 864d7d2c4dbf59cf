"""A store that grows from an earlier one reads what is new alone, and says what one read from nothing says."""

import shutil
from pathlib import Path

import duckdb
import pytest

from analysis.store import load as loading
from analysis.store.load import load
from tests.conftest import copy_boots

TABLES = {
    "pages": "select * from pages order by page",
    "samples": "select page, name, labels, line, value from samples join series using (series) order by page, line",
    "boots": "select * from boots order by rowid",
    "boot_facts": "select * from boot_facts order by boot, line, fact, text",
    "files": "select * from files order by rowid",
    "concept_steps": "select * from concept_steps order by all",
}


def content(database: Path) -> dict[str, list[tuple]]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return {name: list(map(repr, connection.sql(query).fetchall())) for name, query in TABLES.items()}  # NaN too


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = copy_boots(tmp_path / "study", ["A3", "B1"])
    load(data, tmp_path / "first.duckdb")
    page = sorted((data / "metrics" / "A3").glob("*.gz"))[-1]
    shutil.copy2(page, page.with_name("20261129T134551Z.prom.gz"))  # between others: later pages move up
    sorted((data / "metrics" / "B1").glob("*.gz"))[3].unlink()
    taken: list[str] = []
    take = loading._Loader._take
    monkeypatch.setattr(
        loading._Loader, "_take", lambda self, file, *rest: (taken.append(file.path), take(self, file, *rest))[1]
    )
    load(data, tmp_path / "second.duckdb", earlier=[tmp_path / "first.duckdb"])
    assert taken == ["metrics/A3/20261129T134551Z.prom.gz"]
    load(data, tmp_path / "fresh.duckdb")
    assert content(tmp_path / "second.duckdb") == content(tmp_path / "fresh.duckdb")
    assert len(taken) > 20


def test_logs_are_read_again_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = copy_boots(tmp_path / "study", ["A3", "R1"])
    load(data, tmp_path / "first.duckdb")
    copy_boots(data, ["R2"])
    taken: list[str] = []
    take = loading._Loader._take
    monkeypatch.setattr(
        loading._Loader, "_take", lambda self, file, *rest: (taken.append(file.path), take(self, file, *rest))[1]
    )
    load(data, tmp_path / "second.duckdb", earlier=[tmp_path / "first.duckdb"])
    assert {"boots/A3.log", "boots/R1.log", "boots/R2.log"} <= set(taken)
    assert not any(path.startswith("metrics/A3") for path in taken)
    load(data, tmp_path / "fresh.duckdb")
    assert content(tmp_path / "second.duckdb") == content(tmp_path / "fresh.duckdb")
