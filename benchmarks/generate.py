"""Inputs of any size, made from the recorded study: pages with moving counters, long logs, long request files."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from analysis import paths

RECORDED = paths.DATA / "vllm-cpu"
SCRAPE_EVERY = timedelta(seconds=15)
BEGIN = datetime(2026, 11, 29, tzinfo=UTC)
SAMPLES = 452
"""On the recorded page."""
_ENGINE = 'engine="0"'
_STANDING = re.compile(r"_created\b|process_start_time|_info\b|python_info")


def recorded_page() -> str:
    """The last page of a boot that served for five minutes: 452 samples."""
    page = sorted((RECORDED / "metrics" / "A1").glob("*.prom.gz"))[-1]
    return gzip.decompress(page.read_bytes()).decode()


def page_at(scrape: int) -> str:
    """The recorded page as it would read at the given scrape (from 1): counters and buckets grow with it."""
    return "".join(line if value is None else f"{line} {_moved(value, scrape)}\n" for line, value in _template())


def scrapes(folder: Path, replicas: int, count: int, *, packed: bool = False) -> int:
    """A folder a replica with `count` pages each, 15 s apart; the number of samples."""
    pages = [page_at(scrape) for scrape in range(1, count + 1)]
    for replica in range(replicas):
        place = folder / "metrics" / f"replica-{replica}"
        place.mkdir(parents=True, exist_ok=True)
        for scrape, text in enumerate(pages):
            name = f"{BEGIN + scrape * SCRAPE_EVERY:%Y%m%dT%H%M%SZ}.prom"
            if packed:
                (place / f"{name}.gz").write_bytes(gzip.compress(text.encode(), 6))
            else:
                (place / name).write_text(text)
    return replicas * count * sum(not line.startswith("#") for line, _ in _template())


def large_page(engines: int) -> str:
    """One page of a data-parallel group: each series of the recorded page that has an engine, once for each engine."""
    lines = []
    for family in re.split(r"(?=^# HELP )", recorded_page(), flags=re.MULTILINE):
        comments = [line for line in family.splitlines() if line.startswith("#")]
        samples = [line for line in family.splitlines() if not line.startswith("#")]
        lines += comments
        for engine in range(engines if any(_ENGINE in line for line in samples) else 1):
            lines += [line.replace(_ENGINE, f'engine="{engine}"') for line in samples]
    return "\n".join(lines) + "\n"


def long_log(megabytes: int) -> Iterator[str]:
    """The recorded log of a served boot, its beginning once, then what a working engine prints, again and again."""
    lines = (RECORDED / "boots" / "A1.log").read_text().splitlines(keepends=True)
    yield "".join(lines)
    working = "".join(line for line in lines if "200 OK" in line or "Avg prompt throughput" in line)
    for _ in range(megabytes * 1_000_000 // len(working)):
        yield working


def long_requests(megabytes: int) -> Iterator[str]:
    """The recorded request trace again and again, every request under an id of its own."""
    files = sorted((paths.DATA / "vllm-cpu-mixed" / "requests").rglob("*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    written = 0
    round_ = 0
    while written < megabytes * 1_000_000:
        for record in records:
            text = json.dumps({**record, "request_id": f"{record['request_id']}-{round_}"}) + "\n"
            written += len(text)
            yield text
        round_ += 1


@cache
def _template() -> list[tuple[str, float | None]]:
    """The recorded page line by line: a comment whole with None, or a series and its value."""
    lines: list[tuple[str, float | None]] = []
    for line in recorded_page().splitlines(keepends=True):
        series, _, value = line.rpartition(" ")
        stands = line.startswith("#") or bool(_STANDING.search(series))
        lines.append((line, None) if stands else (series, float(value)))
    return lines


def _moved(value: float, scrape: int) -> str:
    # Sums and counts move alike: pages whose sums cannot come from their buckets have no share, and less is computed.
    return repr(value * scrape)
