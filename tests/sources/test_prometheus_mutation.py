"""Damaged pages: whatever happens to the bytes, the reader ends, and invents nothing.

METRIC_MUTATIONS=10000 METRIC_SEED=2 runs more and others than the suite's 150.
"""

import os
import random
from pathlib import Path
from typing import Any

from analysis.sources import prometheus_json, prometheus_text
from analysis.sources.files import SourceFile, UnreadableFileError

CASES = Path(__file__).parents[1] / "cases"
SEEDS = sorted(path for path in CASES.glob("*/metrics/*") if path.is_file())
SPICE = [
    text.encode()
    for text in (*'{}"\\\n\r# ,=\0[]-', "NaN", "1e999", "\ufeff", "_total", "# EOF\n", "# TYPE a counter\n", "# {")
]
SPICE += [b"\xff", b"9" * 500, b'le="+Inf"']


def mutate(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 6)):
        at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        match chance.randrange(6):
            case 0:
                data = data[:at] + chance.choice(SPICE) + data[at:]
            case 1:
                data = data[:at] + data[min(to, at + chance.randint(1, 40)) :]
            case 2:
                data = data[:to]
            case 3:
                data = data + data[at:to]
            case 4:
                data = data[:at] + bytes(chance.randrange(256) for _ in range(4)) + data[at + 4 :]
            case _:
                lines = data.splitlines(keepends=True)
                chance.shuffle(lines)
                data = b"".join(lines)
        data = data or b"x"
    return data


def check(file: SourceFile) -> None:
    """Read it with both readers: samples and pages fit each other, and every sample's name stands on its line."""
    for reader in (prometheus_text, prometheus_json):
        reader.recognise(file.head(), file.path)
        try:
            reading = reader.read(file)
        except UnreadableFileError as error:
            assert str(error).startswith(file.path)
            continue
        samples: Any = reading.tables.get("samples")
        if samples is None:
            assert "pages" not in reading.tables
            continue
        assert set(samples["page_index"]) == {row["page_index"] for row in reading.tables["pages"]}
        assert samples.select("page_index", "name", "labels").is_duplicated().sum() == 0
        assert samples.null_count().row(0) == (0, 0, 0, 0, 0)
        lines = dict(file.lines())
        for name, line in zip(samples["name"], samples["line"], strict=True):
            if reading.format in ("prometheus-text", "openmetrics"):
                assert name.split(":")[-1].split("_")[-1] in lines[line]


def test_damaged_pages_are_read_without_a_crash_or_an_invention(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("METRIC_SEED", "20261129")))
    path = tmp_path / "page"
    for _ in range(int(os.environ.get("METRIC_MUTATIONS", "150"))):
        path.write_bytes(mutate(chance.choice(SEEDS).read_bytes(), chance))
        check(SourceFile("page", path, path.stat().st_size, 0.0))
