"""Inputs of any size, made from the recorded study: pages with moving counters, long logs, long request files."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

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


def mixed_log(megabytes: int) -> Iterator[str]:
    """The same boot among what else a server prints: other addresses, paths and requests each time, and tracebacks."""
    lines = (RECORDED / "boots" / "A1.log").read_text().splitlines(keepends=True)
    yield "".join(lines)
    working = [line for line in lines if "Avg prompt throughput" in line]
    trace = 'Traceback (most recent call last):\n  File "http.py", line 403, in run_asgi\nValueError: the client left\n'
    written = number = 0
    while written < megabytes * 1_000_000:
        number += 1
        client, request = f"10.{number % 251}.{number % 241}.9:{number % 64_000}", f"cmpl-{number * 7919:012x}"
        text = f'INFO:     {client} - "POST /v1/chat/{request} HTTP/1.1" 200 OK\n' * 4
        text += (
            f"(EngineCore pid=77) DEBUG 11-29 13:10:05 [core.py:90] {request} added, {number} tokens scheduled\n" * 2
        )
        text += working[number % len(working)] + (trace if number % 50 == 0 else "")
        written += len(text)
        yield text


def long_guidellm(megabytes: int) -> Iterator[str]:
    """A guidellm result, its requests again and again: one document, as a file holds it."""
    result = _result_of_tool("guidellm-v2")
    requests = [benchmark["requests"] for benchmark in result["benchmarks"]]
    for group in requests:
        group |= _again({status: entries for status, entries in group.items() if isinstance(entries, list)},
                        megabytes / len(requests))  # fmt: skip
    yield json.dumps(result)


def tiny_vllm(megabytes: int) -> Iterator[str]:
    """A detailed result of `vllm bench serve`, of requests with two to four tokens: no tool writes fewer bytes each."""
    result = _result_of_tool("vllm-bench-detailed")
    arrays = {key: values for key, values in result.items() if isinstance(values, list)}
    arrays["itls"] = [gaps[: 1 + number % 3] for number, gaps in enumerate(arrays["itls"])]
    arrays["output_lens"] = [len(gaps) + 1 for gaps in arrays["itls"]]
    yield json.dumps(result | _again(arrays, megabytes))


def long_llmperf(megabytes: int) -> Iterator[str]:
    """Llmperf's list of responses, again and again."""
    yield json.dumps(_again({"": _result_of_tool("llmperf-individual")}, megabytes)[""])


def long_inference_perf(megabytes: int) -> Iterator[str]:
    """inference-perf's list of requests, again and again: one in three failed."""
    yield json.dumps(_again({"": _result_of_tool("inference-perf-per-request")}, megabytes)[""])


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


def _result_of_tool(name: str) -> Any:
    return json.loads((paths.ROOT / "tests" / "samples" / "requests" / f"{name}.json").read_text())


def _again(arrays: dict[str, list[Any]], megabytes: float) -> dict[str, list[Any]]:
    """The arrays, all as often one after another as fill so many megabytes together."""
    times = int(megabytes * 1_000_000 / len(json.dumps(list(arrays.values()))))
    return {key: values * times for key, values in arrays.items()}


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
    # Sums and counts move alike: sums that cannot come from their buckets have no share, and a report less to do.
    return repr(value * scrape)
