"""Answers of Prometheus' query API that were saved as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.sources import prometheus_json
from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.reading import Reading


def read(tmp_path: Path, document: Any) -> Reading:
    path = tmp_path / "range.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return prometheus_json.read(SourceFile("range.json", path, path.stat().st_size, 7.0))


def matrix(*results: Any) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "matrix", "result": list(results)}}


def values(reading: Reading) -> list[tuple[int, str, str, float]]:
    found: Any = reading.tables.get("samples", [])
    return [(p, n, labels, v) for p, n, labels, _, v in found.iter_rows()] if len(found) else []


A = {"metric": {"__name__": "vllm:a_total", "instance": "i"}, "values": [[100, "1"], [160.5, "2.5"]]}


def test_each_time_of_an_instance_is_a_page(tmp_path: Path) -> None:
    reading = read(tmp_path, matrix(A))
    assert [(r["target"], r["scraped_at_s"], r["scraped_at_source"]) for r in reading.tables["pages"]] == [
        (".@i", 100.0, "sample timestamp"), (".@i", 160.5, "sample timestamp"),
    ]  # fmt: skip
    assert values(reading) == [
        (0, "vllm:a_total", '{"instance":"i"}', 1.0),
        (1, "vllm:a_total", '{"instance":"i"}', 2.5),
    ]


@pytest.mark.parametrize(
    "document",
    [
        matrix(A),
        {"data": {"resultType": "vector", "result": [{"metric": {"__name__": "a"}, "value": [1, "2"]}]}},
        {"status": "success", "data": {"result": [A], "resultType": "matrix"}},
        [A],
    ],
    ids=["matrix", "vector", "other key order", "results only"],
)  # fmt: skip
def test_answers_are_recognised(tmp_path: Path, document: Any) -> None:
    for text in (json.dumps(document), json.dumps(document, indent=1)):
        assert prometheus_json.recognise(text, "x")
    assert values(read(tmp_path, document))


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ("x", "query result"),
        ({"metric": 3}, "query result"),
        ({"metric": {"job": "vllm"}, "values": [[1, "2"]]}, "query result without a metric name (an expression?)"),
        ({"metric": {"__name__": "b"}, "histograms": []}, "query result without values"),
        ({"metric": {"__name__": "b"}, "values": [[1, 2]]}, "query sample"),
        ({"metric": {"__name__": "b"}, "values": [[1, "2", 3]]}, "query sample"),
        ({"metric": {"__name__": "b"}, "values": [["1", "2"]]}, "query sample"),
        ({"metric": {"__name__": "b"}, "values": [[True, "2"]]}, "query sample"),
        ({"metric": {"__name__": "b"}, "values": [[1, "two"]]}, "query sample"),
        (A, "second result of one series"),
    ],
)
def test_what_is_not_understood_is_unparsed_and_the_rest_is_read(tmp_path: Path, result: Any, what: str) -> None:
    reading = read(tmp_path, matrix(A, result))
    assert [(u.line, u.what) for u in reading.unparsed] == [(2, what)]
    assert len(values(reading)) == 2


def test_a_series_has_one_value_at_one_time(tmp_path: Path) -> None:
    twice = {**A, "values": [[100, "1"], [100, "1"], [100, "5"], [160, "NaN"], [160, "NaN"]]}
    reading = read(tmp_path, matrix(twice))
    assert [v for *_, v in values(reading)] == [1.0, pytest.approx(float("nan"), nan_ok=True)]
    assert [u.what for u in reading.unparsed] == ["second value of a series at one time"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(matrix(A))[:-9], "cut off"),
        ('{"data": {"resultType": "matrix", "result": ' + "[" * 200_000, "nested too deeply"),
        ('{"data": {"resultType": "matrix", "result": [' + "9" * 10_000 + "]}}", "cut off or damaged"),
    ],
    ids=["cut", "deep", "digits"],
)
def test_bad_json_is_one_clear_message(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UnreadableFileError, match=why):
        read(tmp_path, text)


def test_lone_surrogates_reach_the_store_as_replacement(tmp_path: Path) -> None:
    reading = read(tmp_path, '[{"metric": {"__name__": "a", "x": "\\ud800"}, "value": [1, "2"]}]')
    assert values(reading) == [(0, "a", '{"x":"?"}', 2.0)]
