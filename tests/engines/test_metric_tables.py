"""The engines' tables: complete, consistent, and each name theirs alone."""

import pytest

from analysis import engines
from analysis.store.concepts import _names

EVERY = pytest.mark.parametrize("engine", engines.ENGINES)


@EVERY
def test_rows_are_well_formed(engine: str) -> None:
    rows = engines.metrics(engine)
    assert rows
    for row in rows:
        assert row.type in ("counter", "gauge", "histogram", "info")
        assert row.unit in ("s", "tokens", "bytes", "1")
        assert (row.combine in ("sum", "max", "min")) == (row.type == "gauge") or row.type == "info"
        assert not row.name.endswith(("_sum", "_count", "_bucket")) or row.name == "request_count"
        for version in (row.since, row.until):
            assert version is None or engines.version_key(version)


@EVERY
def test_no_name_means_two_things(engine: str) -> None:
    rows = [
        (row["sample_name"], row["concept"], row["where_value"], row["key_value"])
        for metric in engines.metrics(engine)
        for row in _names(engine, metric)
    ]
    assert len(rows) == len(set(rows))


@EVERY
def test_defects_are_well_formed(engine: str) -> None:
    concepts = {metric.concept for metric in engines.metrics(engine)}
    for defect in engines.defects(engine):
        assert defect.id.startswith(f"{engine}-")
        assert defect.action in ("corrected", "excluded", "warned")
        assert defect.source.startswith("https://")
        assert set(defect.concepts) <= concepts


def test_batch_seconds_and_request_seconds_are_never_one_concept() -> None:
    for engine in engines.ENGINES:
        names = {metric.concept: metric.name for metric in engines.metrics(engine)}
        assert names.get("prefill_time") != names.get("batch_prefill_time") or "prefill_time" not in names


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("0.6.4.post1", [0, 6, 4]),
        ("v0.11.0rc2", [0, 11, 0]),
        ("b7010", [7010]),
        ("0.25", [0, 25]),
        ("dev", None),
        (None, None),
    ],
)
def test_versions_compare_as_numbers(version: str | None, key: list[int] | None) -> None:
    assert engines.version_key(version) == key


def test_a_missing_table_is_empty() -> None:
    assert engines.table("tgi", "no_such_table") == {} and engines.defects("tgi") == []
