"""What is measured beside what: each of ours with its peer or floor, on the same bytes, one after the other."""

import importlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
from prometheus_client.parser import text_string_to_metric_families

from analysis.sources import boot_log, registry
from analysis.sources.files import SourceFile, walk
from analysis.sources.prometheus_plain import read
from analysis.sources.prometheus_words import Words
from analysis.sources.reading import uncollected
from analysis.store import load
from benchmarks import generate

Run = Callable[[], object]


@dataclass(frozen=True)
class Pair:
    """Two runs over the same input of `amount` units; `goal` is the least ratio peer over ours that we promise."""

    name: str
    unit: str
    amount: float
    ours: Run
    peer_name: str
    peer: Run
    goal: float | None = None
    rate_goal: float | None = None


@dataclass(frozen=True)
class Size:
    """How much is made for the measurements."""

    engines: int = 110
    replicas: int = 4
    scrapes: int = 500
    megabytes: int = 100


RESULTS = {
    "a guidellm result": generate.long_guidellm,
    "a vllm bench serve result, two to four tokens each": generate.tiny_vllm,
    "a list of llmperf": generate.long_llmperf,
    "a list of inference-perf": generate.long_inference_perf,
}
"""Files that are one JSON document."""
ANCHOR = 60_000
"""Samples a CPU second that prometheus_client reads on the machine for which the goals were set."""
SERIES_GOAL = 1_500_000
QUICK = Size(engines=20, replicas=2, scrapes=50, megabytes=10)


def pairs(folder: Path, size: Size) -> Iterator[Pair]:
    """The pairs that CPU seconds decide; inputs are made below `folder`."""
    page = generate.large_page(size.engines)
    samples = sum(not line.startswith("#") for line in page.splitlines())
    yield Pair("one large page, nothing known before", "samples", samples, lambda: _plain(page.encode()),
               "prometheus_client", lambda: _peer(page), goal=20.0)  # fmt: skip
    if inferlint := _inferlint():
        yield Pair("one large page, nothing known before", "samples", samples, lambda: _plain(page.encode()),
                   "inferlint", lambda: inferlint(page))  # fmt: skip
    series = folder / "series"
    count = generate.scrapes(series, size.replicas, size.scrapes)
    texts = [file.absolute.read_text() for file in walk(series)[0]]
    few = texts[: max(1, len(texts) // 20)]
    ingest = lambda: _ingest(series, folder / "ingest.duckdb")  # noqa: E731
    yield Pair("a series of scrapes into a store", "samples", count, ingest, "prometheus_client (a twentieth)",
               lambda: [_peer(text) for text in few], goal=SERIES_GOAL / ANCHOR, rate_goal=SERIES_GOAL)  # fmt: skip
    yield Pair("a series of scrapes into a store", "samples", count, ingest, "DuckDB, one raw column and a cast",
               lambda: _raw(series))  # fmt: skip
    yield Pair("a series of scrapes into a store", "samples", count, ingest, "counting newlines",
               lambda: sum(file.absolute.read_bytes().count(b"\n") for file in walk(series)[0]))  # fmt: skip
    yield Pair("a series of scrapes into a store", "samples", count, ingest, "reading and hashing each file",
               lambda: [sha256(file.absolute.read_bytes()).digest() for file in walk(series)[0]])  # fmt: skip
    for name, pieces in (("a boot log", generate.long_log), ("a boot log with much else", generate.mixed_log)):
        log = _written(folder / "boots" / f"{pieces.__name__}.log", pieces(size.megabytes))
        yield Pair(name, "MB", log.size / 1e6, lambda log=log: boot_log.read(log), "counting newlines",
                   lambda log=log: log.absolute.read_bytes().count(b"\n"), rate_goal=200)  # fmt: skip
    trace = _written(folder / "requests" / "trace.jsonl", generate.long_requests(size.megabytes // 2))
    yield Pair("a request file", "MB", trace.size / 1e6, lambda: _requests(trace), "json.loads, line by line",
               lambda: [json.loads(line) for line in trace.absolute.open()], rate_goal=100)  # fmt: skip
    for name, pieces in RESULTS.items():
        result = _written(folder / "requests" / f"{pieces.__name__}.json", pieces(size.megabytes // 2))
        yield Pair(name, "MB", result.size / 1e6, lambda result=result: _requests(result), "json.loads",
                   lambda result=result: json.loads(result.absolute.read_text()), rate_goal=100)  # fmt: skip


def scaled(pair: Pair, seconds: float) -> float:
    """What the peer would have needed for all, where it was given a part."""
    return seconds * 20 if "a twentieth" in pair.peer_name else seconds


def cpu_seconds(run: Run) -> float:
    """CPU seconds of this process, all its threads, for one run."""
    began = time.process_time()
    run()
    return time.process_time() - began


def _plain(page: bytes) -> None:
    if read(page, Words()) is None:
        raise RuntimeError("the large page is not plain: this would measure nothing")


def _requests(file: SourceFile) -> None:
    """As the loader reads it."""
    reader = registry.reader_of(file)
    assert reader is not None
    with uncollected():
        reader.read(file)


def _peer(page: str) -> int:
    return sum(len(family.samples) for family in text_string_to_metric_families(page))


def _inferlint() -> Callable[[str], Any] | None:
    try:
        return importlib.import_module("inferlint.prom").parse  # type: ignore[no-any-return]
    except ImportError:
        return None


def _ingest(data: Path, database: Path) -> None:
    """All that `load` does but for the views: find, hash, read, insert, write to the disk."""
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        loader = load._Loader(connection)
        connection.begin()
        loader._take_all(walk(data)[0], None, None)
        loader.rows.flush()
        loader._add_series()
        connection.commit()


def _raw(data: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        options = "delim = '\x01', quote = '', escape = '', header = false, auto_detect = false"
        connection.execute(
            "create table raw as select split_part(line, ' ', 1) as series, "
            "try_cast(split_part(line, ' ', 2) as double) as value "
            f"from read_csv('{data}/**/*.prom', columns = {{'line': 'varchar'}}, {options}) where line[1] <> '#'"
        )


def _written(path: Path, pieces: Iterator[str]) -> SourceFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        file.writelines(pieces)
    return SourceFile(path.name, path, path.stat().st_size, path.stat().st_mtime)
