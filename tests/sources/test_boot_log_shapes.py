"""Shapes of logs that no hand-checked case holds (boot_log_shapes.toml), each written down before it was tried."""

import gzip
import tomllib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from analysis.sources import boot_log
from analysis.sources.files import SourceFile

SHAPES = tomllib.loads(Path(__file__).with_name("boot_log_shapes.toml").read_text(encoding="utf-8"))["shape"]
PLAIN = next(shape["text"] for shape in SHAPES if shape["name"] == "CRLF").replace("\r", "").encode()


def _read(tmp_path: Path, data: bytes) -> boot_log.Reading:
    (tmp_path / "s.log").write_bytes(data)
    file = SourceFile("boots/s.log", tmp_path / "s.log", len(data), 0.0)
    assert boot_log.recognise(file.head(), file.path)
    return boot_log.read(file)


@pytest.mark.parametrize("shape", SHAPES, ids=[shape["name"] for shape in SHAPES])
def test_a_shape_is_read(shape: dict[str, Any], tmp_path: Path) -> None:
    want = {key: None if value == "null" else value for key, value in shape["want"].items()}
    reading = _read(tmp_path, shape["text"].encode())
    boots = reading.tables["boots"]
    assert len(boots) == want.pop("boots", 1)
    assert len(reading.unparsed) == want.pop("unparsed", 0), reading.unparsed
    stated: dict[str, list[Any]] = {}
    for row in reading.tables["boot_facts"]:
        stated.setdefault(row["fact"], []).append(row["text"] if row["value"] is None else row["value"])
    for name, values in want.pop("facts", {}).items():
        assert stated.get(name) == values, name
    row = boots[want.pop("at", 0)]
    assert {column: row[column] for column in want} == want


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_compressed_log_is_read_by_its_content(pack: Any, tmp_path: Path) -> None:
    assert _read(tmp_path, pack(PLAIN)).tables == _read(tmp_path, PLAIN).tables


def test_a_compressed_log_that_is_cut_says_so(tmp_path: Path) -> None:
    noise = "".join(f"{number * 7919 % 1_000_003}\n" for number in range(60_000)).encode()
    reading = _read(tmp_path, gzip.compress(PLAIN + noise)[:-5000])
    assert reading.tables["boots"][0]["token_pool_tokens"] == 412800
    assert reading.message
