"""What is read at once is what is read a key at a time: the same rows, and the same words about what does not fit."""

import random
from pathlib import Path

import polars as pl
import pytest

from analysis.sources import (
    json_columns,
    requests_guidellm,
    requests_inference_perf,
    requests_llmperf,
    requests_trace,
    requests_vllm,
)
from analysis.sources.files import SourceFile, UnreadableFileError
from tests.sources.test_requests_mutated import SAMPLES, mutate, reader_of

READERS = [requests_vllm, requests_guidellm, requests_inference_perf, requests_llmperf, requests_trace]
PARSING = [requests_vllm, requests_guidellm, json_columns]
"""The modules that read documents."""
READ = [sample for sample in SAMPLES if any(r.recognise(sample.head(), sample.path) for r in READERS)]
SOUND = ["trace.jsonl", "guidellm-v2.json", "inference-perf-per-request.json", "llmperf-individual.json",
         "vllm-bench-detailed.json"]  # fmt: skip


def outcome(path: Path) -> str:
    """All that a file yields, as text: unlike ==, it tells 1 from 1.0."""
    file = SourceFile(path.name, path, path.stat().st_size, 0.0)
    if (reader := reader_of(file)) is None:
        return "unrecognised"
    try:
        reading = reader.read(file)
    except UnreadableFileError as error:
        return str(error)
    tables = {
        name: [
            dict(sorted((key, value) for key, value in row.items() if value is not None))
            for row in (rows.to_dicts() if isinstance(rows, pl.DataFrame) else rows)
        ]
        for name, rows in sorted(reading.tables.items())
    }
    return repr((reading.format, tables, reading.unparsed, reading.message, file.troubles))


def unhurried(patch: pytest.MonkeyPatch) -> None:
    """Nothing is plain."""
    patch.setattr(requests_trace, "_plain", lambda line: None)
    for module in PARSING:
        patch.setattr(module, "plain_document", lambda file: b"")


@pytest.mark.parametrize("sample", READ, ids=lambda sample: sample.path)
def test_mutated_samples_are_told_alike(sample: SourceFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, whole, target = random.Random(20261130), sample.absolute.read_bytes(), tmp_path / sample.path
    for data in [whole, *(mutate(whole, dice) for _ in range(60))]:
        target.write_bytes(data)
        at_once = outcome(target)
        with monkeypatch.context() as patch:
            unhurried(patch)
            assert at_once == outcome(target)


@pytest.mark.parametrize("name", SOUND)
def test_sound_files_are_read_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = next(sample for sample in READ if sample.path == name)

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(requests_trace, "_careful", fail)
    for module in PARSING:
        monkeypatch.setattr(module, "document", fail)
    assert "Unparsed" not in outcome(sample.absolute)
