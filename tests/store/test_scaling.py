"""What a store costs as pages become many: counted and structural, nothing is timed."""

import os
import weakref
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from analysis import paths
from analysis.findings import integrity, time_split
from analysis.sources import prometheus_scrapes
from analysis.sources.prometheus_layout import AT_ONCE_BYTES, Layout
from analysis.store import rows
from analysis.store.load import load
from analysis.study import Study
from benchmarks import generate

A_ROW_A_SAMPLE = ("samples", "counter_steps", "series_steps", "concept_increases")


def store(folder: Path, scrapes: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    """A store of two replicas, and what was done to each page."""
    done: list[str] = []
    read, values = prometheus_scrapes.read, Layout.values
    with monkeypatch.context() as patch:
        patch.setattr(prometheus_scrapes, "read", lambda *given: (done.append("read"), read(*given))[1])
        patch.setattr(Layout, "values", lambda of, pages: (done.append(f"compared {len(pages)}"), values(of, pages))[1])
        generate.scrapes(folder / "data", 2, scrapes)
        load(folder / "data", folder / "store.duckdb")
    return folder / "store.duckdb", done


@pytest.mark.parametrize("scrapes", [5, 20])
def test_a_page_of_a_known_layout_is_compared_once_among_others_and_read_never(
    tmp_path: Path, scrapes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, done = store(tmp_path, scrapes, monkeypatch)
    together = AT_ONCE_BYTES // len(generate.page_at(1))
    pages = [int(one.removeprefix("compared ")) for one in done[1:]]
    assert done[0] == "read"
    assert sum(pages) == 2 * scrapes - 1
    # Those that were opened with the first one, each for itself; then as many at once as fit.
    assert pages[: together - 1] == [1] * (together - 1)
    assert len(pages) - (together - 1) <= 2 * scrapes // (together - 1)


def test_tables_with_a_row_a_sample_hold_numbers_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database, _ = store(tmp_path, 5, monkeypatch)
    with duckdb.connect(str(database), read_only=True) as connection:
        columns = connection.sql(
            "select table_name, data_type from duckdb_columns() where not internal and table_name in $tables",
            params={"tables": list(A_ROW_A_SAMPLE)},
        ).fetchall()
    assert {table for table, _ in columns} == set(A_ROW_A_SAMPLE)
    assert {kind for _, kind in columns} == {"INTEGER", "DOUBLE", "BOOLEAN"}


def test_what_every_page_of_a_report_asks_reads_no_table_with_a_row_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, _ = store(tmp_path, 5, monkeypatch)
    with duckdb.connect(str(database)) as connection:
        broken, runs = integrity.broken_runs(connection), time_split.runs(connection)
        for table in A_ROW_A_SAMPLE:
            connection.execute(f"drop table {table}")
        assert integrity.broken_runs(connection) == broken
        assert [(run.name, run.totals, run.evidence) for run in time_split.runs(connection)] == [
            (run.name, run.totals, run.evidence) for run in runs
        ]
    assert len(runs) == 2
    assert len(runs[0].totals) == 45
    assert len(runs[0].evidence) > 20


def test_answers_are_bounded_in_memory_and_what_they_spill_is_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    generate.scrapes(tmp_path / "data", 1, 3)
    study = Study(tmp_path / "data")
    limit, folder = study.connection.sql(
        "select current_setting('memory_limit'), current_setting('temp_directory')"
    ).fetchall()[0]
    assert limit == "572.2 MiB"  # 600 MB
    spilled = Path(folder.replace(f".{os.getpid()}.", ".999999999."))  # as of a process that was killed
    assert spilled.parent == study.store.database.parent
    spilled.mkdir()
    load(tmp_path / "data", study.store.database)
    assert not spilled.exists()


def test_a_long_reading_ends_its_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an insertion registered is held until its transaction ends: in one for all it would all be held."""
    monkeypatch.setattr(rows, "MOST_SAMPLES", 1_000)
    given: list[weakref.ref[pa.Table]] = []
    alive: list[int] = []
    insert = rows.Rows._insert

    def inserting(self: rows.Rows, name: str, table: pa.Table) -> None:
        alive.append(sum(one() is not None for one in given))
        given.append(weakref.ref(table))
        insert(self, name, table)

    monkeypatch.setattr(rows.Rows, "_insert", inserting)
    store(tmp_path, 20, monkeypatch)
    assert len(alive) > 10
    assert max(alive[:10]) == 0
