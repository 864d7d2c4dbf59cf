"""Damaged files: every sample, mutated at random, is read without a crash into rows that the store takes."""

import random
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from analysis import paths
from analysis.sources import (
    host,
    requests_aiperf,
    requests_console,
    requests_guidellm,
    requests_inference_perf,
    requests_llmperf,
    requests_sse,
    requests_trace,
    requests_vllm,
    study_toml,
)
from analysis.sources.files import SourceFile, UnreadableFileError, walk
from analysis.store.rows import Rows, table_of

TESTS = Path(__file__).parents[1]
READERS = [
    study_toml, requests_vllm, requests_guidellm, requests_aiperf, requests_inference_perf, requests_llmperf,
    requests_trace, requests_sse, requests_console, host,
]  # fmt: skip
SAMPLES = [
    *walk(TESTS / "samples" / "requests")[0],
    *(f for case in sorted(TESTS.glob("cases/requests-*/requests")) for f in walk(case)[0]),
]
HOSTILE = [
    b"null", b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 5000, b"true", b'"x"', b'"\\ud800"', b'"\\u0000"', b"[]",
    b"{}", b"[[[]]]", b'{"a":' * 3000, b"\xff\xfe", b"0.0", b"1e17", b"[DONE]",
    b'"<b>\'; drop table files; --"', b"\n", b"",
]  # fmt: skip


def columns() -> dict[str, dict[str, pa.DataType]]:
    with duckdb.connect() as connection:
        connection.execute(paths.SCHEMA.read_text())
        return Rows(connection).kinds


def mutate(data: bytes, dice: random.Random) -> bytes:
    """One to four edits: a token, a span or a byte replaced, a piece cut, doubled or moved."""
    for _ in range(dice.randint(1, 4)):
        start = dice.randrange(len(data) + 1)
        stop = min(len(data), start + dice.choice([0, 1, 1, 4, 40, 400]))
        kind = dice.randrange(5)
        if kind == 0:  # a whole JSON value
            start = max(data.find(b":", start) + 1, 0)
            ends = [e for c in b",}]\n" if (e := data.find(bytes([c]), start)) > 0]
            data = data[:start] + dice.choice(HOSTILE) + data[min(ends, default=start) :]
        elif kind == 1:
            data = data[:start] + dice.choice(HOSTILE) + data[stop:]
        elif kind == 2:
            data = data[:start] + bytes([dice.randrange(256)]) + data[start + 1 :]
        elif kind == 3:
            data = data[:start] + data[stop:] if dice.random() < 0.7 else data[:start]
        else:
            data = data[:start] + data[start:stop] * 2 + data[stop:]
    return data


def reader_of(file: SourceFile) -> Any:
    """The first of the readers that knows the file; None where none does."""
    return next((reader for reader in READERS if reader.recognise(file.head(), file.path)), None)


def check(path: Path, tables: dict[str, dict[str, pa.DataType]]) -> str:
    """Read one file as the loader does; returns what became of it."""
    stat = path.stat()
    file = SourceFile(path.name, path, stat.st_size, stat.st_mtime)
    if (reader := reader_of(file)) is None:
        return "unrecognised"
    try:
        reading = reader.read(file)
    except UnreadableFileError as error:
        assert path.name in str(error)
        return "unreadable"
    for table, found in reading.tables.items():
        rows = found.to_dicts() if isinstance(found, pl.DataFrame) else found
        schema = {name: kind for name, kind in tables[table].items() if name != "file"}
        assert all(row.keys() <= schema.keys() for row in rows)
        assert table_of(rows, schema).num_rows == len(rows)
    for line in reading.unparsed:
        assert len(line.text) <= 400
        (line.text + line.what).encode()
    return reading.format


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_mutated_samples(sample: SourceFile, tmp_path: Path) -> None:
    tables, whole = columns(), sample.absolute.read_bytes()
    target = tmp_path / sample.path
    target.write_bytes(whole)
    assert check(target, tables) not in ("unrecognised", "unreadable")
    dice = random.Random(20261129)
    for _ in range(40):
        target.write_bytes(mutate(whole, dice))
        check(target, tables)
