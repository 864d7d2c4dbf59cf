"""guidellm's benchmarks.json, version 1 and 2: one run per benchmark of the sweep, its requests where they were kept.

Names without a unit are seconds, times of day are unix seconds. There are no gaps and no finish reasons in the file:
of the stream only the first and the last token are known.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.json import Decoder

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_plain import ODD, Count, Number, plain_document
from analysis.sources.json_text import Fields, document, keep_unparsed, parse, summary
from analysis.sources.reading import Reading, Row

FORMAT = "guidellm"
GROUPS = {"successful": "ok", "errored": "error", "incomplete": "incomplete"}
_MARKS = [re.compile(mark) for mark in (r'"benchmarks"\s*:\s*\[', r'"guidellm_version"|"type_"\s*:\s*"generative_')]


def recognise(head: str, name: str) -> bool:
    """Whether the file is an object with guidellm's benchmarks."""
    return head.lstrip("\ufeff \r\n")[:1] == "{" and (all(m.search(head) for m in _MARKS) or bool(_TOP.match(head)))


_TOP = re.compile(r'\s*\{\s*"metadata"\s*:\s*\{[^{}]*"guidellm_version"')


class _Timings(Struct, gc=False):
    request_start: Number | None = None
    request_end: Number | None = None
    first_token_iteration: Number | None = None
    first_iteration: Number | None = None
    last_token_iteration: Number | None = None
    last_iteration: Number | None = None


class _Info(Struct, gc=False):
    timings: _Timings | UnsetType | None = UNSET
    request_timings: _Timings | None = None
    error: str | None = None


class _Metrics(Struct, gc=False):
    total_tokens: Count | None = None


class _Entry(Struct, gc=False):
    """A request that holds nothing odd. Version 2 has its times under info.timings, version 1 at the top."""

    request_id: str | None = None
    response_id: str | None = None
    info: _Info | UnsetType | None = UNSET
    scheduler_info: _Info | None = None
    start_time: Number | None = None
    request_start_time: Number | None = None
    end_time: Number | None = None
    request_end_time: Number | None = None
    first_token_time: Number | None = None
    last_token_time: Number | None = None
    output: str | None = None
    prompt_tokens: Count | None = None
    input_metrics: _Metrics | None = None
    output_tokens: Count | None = None
    output_metrics: _Metrics | None = None
    error: str | None = None


class _Groups(Struct, gc=False):
    successful: list[_Entry] | None = None
    errored: list[_Entry] | None = None
    incomplete: list[_Entry] | None = None


class _File(Struct):
    """A file in parts, each still to be read."""

    benchmarks: list[dict[str, Raw]]
    metadata: Raw = Raw(b"null")


_file, _groups = Decoder(_File).decode, Decoder(_Groups).decode
_NO_INFO, _NO_TIMINGS, _NO_METRICS = _Info(), _Timings(), _Metrics()


def read(file: SourceFile) -> Reading:
    """One run per benchmark. Rows are only taken for counts when none was thinned out (`sample_size`)."""
    reading = Reading("requests", FORMAT)
    value = _in_parts(plain_document(file)) or document(file)
    top = Fields(value if isinstance(value, dict) else {}, "guidellm file", 1, reading)
    benchmarks = top.array("benchmarks")
    if benchmarks is None:
        raise UnreadableFileError(f"{file.path}: no benchmarks in it; write the result file again")
    version = top.inner("metadata").text("guidellm_version")
    for ordinal, benchmark in enumerate(benchmarks, start=1):
        if isinstance(benchmark, dict):
            fields = Fields(benchmark, f"guidellm benchmark {ordinal}", 1, reading)
            _benchmark(fields, f"{file.path}#{ordinal}", ordinal, version)
        else:
            keep_unparsed(reading, 1, f"guidellm benchmark {ordinal}: not an object", benchmark)
    return reading


def _in_parts(text: bytes) -> dict[str, Any] | None:
    """What the file says but for its requests, which are `_Groups` where nothing in them is odd. None where it is."""
    if b"\\u0000" in text:
        return None
    try:
        file = _file(text)
        return {"metadata": parse(file.metadata), "benchmarks": [
            {key: _groups(part) if key == "requests" else parse(part) for key, part in benchmark.items()}
            for benchmark in file.benchmarks
        ]}  # fmt: skip
    except ODD:
        return None


def _benchmark(fields: Fields, run: str, ordinal: int, version: str | None) -> None:
    reading = fields.reading
    groups = fields.values.get("requests")
    rows = list(_plain_rows(groups) if isinstance(groups, _Groups) else _rows(fields))
    totals = _totals(fields)
    kept = Counter(row["status"] for row in rows)
    stated = {status: totals.count(group) for group, status in GROUPS.items()}
    thinned = any(count is not None and count != kept[status] for status, count in stated.items())
    counts = (
        {"completed": stated["ok"], "failed": stated["error"], "incomplete": stated["incomplete"]} if thinned else {}
    )
    strategy = _strategy(fields)
    streams = strategy.number("streams")
    reading.add(
        "request_runs", run=run, ordinal=ordinal, format=FORMAT, tool_version=version,
        started_at_s=fields.number("start_time"), duration_s=_duration(fields),
        concurrency=streams if streams is not None else strategy.number("max_concurrency"),
        request_rate=strategy.number("rate"), tool_summary=summary(fields.inner("metrics").values), **counts,
    )  # fmt: skip
    for number, row in enumerate(rows, start=1):
        row |= {"run": run, "ordinal": number}
    if rows:
        reading.tables.setdefault("requests", []).extend(rows)


def _totals(fields: Fields) -> Fields:
    """The tool's counts by status: in metrics in version 2 and late version 1, in run_stats in early files."""
    totals = fields.inner("metrics").inner("request_totals")
    return totals if totals.values else fields.inner("run_stats").inner("requests_made")


def _strategy(fields: Fields) -> Fields:
    outer = fields.inner("config") if "config" in fields.values else fields.inner("args")
    return outer.inner("strategy")


def _duration(fields: Fields) -> float | None:
    stated = fields.number("duration")
    start, end = fields.number("start_time"), fields.number("end_time")
    return stated if stated is not None else (end - start if start is not None and end is not None else None)


def _plain_rows(groups: _Groups) -> Iterator[Row]:
    for group, status in GROUPS.items():
        for entry in getattr(groups, group) or ():
            info = (entry.info if entry.info is not UNSET else entry.scheduler_info) or _NO_INFO
            timings = (info.timings if info.timings is not UNSET else info.request_timings) or _NO_TIMINGS
            yield _row(
                status, entry.request_id, entry.response_id,
                _first(timings.request_start, entry.start_time, entry.request_start_time),
                _first(timings.request_end, entry.end_time, entry.request_end_time),
                _first(timings.first_token_iteration, timings.first_iteration, entry.first_token_time),
                _first(timings.last_token_iteration, timings.last_iteration, entry.last_token_time),
                _first(entry.prompt_tokens, (entry.input_metrics or _NO_METRICS).total_tokens),
                _first(entry.output_tokens, (entry.output_metrics or _NO_METRICS).total_tokens),
                info.error or entry.error or None, entry.output,
            )  # fmt: skip


def _rows(fields: Fields) -> Iterator[Row]:
    groups = fields.inner("requests")
    for group, status in GROUPS.items():
        for number, entry in enumerate(groups.array(group) or (), start=1):
            if isinstance(entry, dict):
                yield _careful_row(Fields(entry, f"{fields.what}, {group} {number}", 1, fields.reading), status)
            else:
                keep_unparsed(fields.reading, 1, f"{fields.what}, {group} {number}: not an object", entry)


def _careful_row(fields: Fields, status: str) -> Row:
    """One request, a key at a time."""
    info = fields.inner("info") if "info" in fields.values else fields.inner("scheduler_info")
    timings = info.inner("timings") if "timings" in info.values else info.inner("request_timings")
    start = _first(timings.number("request_start"), fields.number("start_time"), fields.number("request_start_time"))
    end = _first(timings.number("request_end"), fields.number("end_time"), fields.number("request_end_time"))
    first = _first(
        timings.number("first_token_iteration"), timings.number("first_iteration"), fields.number("first_token_time")
    )
    last = _first(
        timings.number("last_token_iteration"), timings.number("last_iteration"), fields.number("last_token_time")
    )
    output = fields.text("output")
    return _row(
        status, fields.text("request_id"), fields.text("response_id"), start, end, first, last,
        _count(fields, "prompt_tokens", "input_metrics"), _count(fields, "output_tokens", "output_metrics"),
        _first(info.words("error"), fields.words("error")), output,
    )  # fmt: skip


def _row(
    status: str, request: str | None, response: str | None,
    start: float | None, end: float | None, first: float | None, last: float | None,
    prompt: int | None, output: int | None, error: str | None, text: str | None,
) -> Row:  # fmt: skip
    return {
        "clock": "unix", "request": request, "server_request": response, "status": status,
        "sent_at_s": start, "first_token_at_s": first, "last_token_at_s": last, "finished_at_s": end,
        "ttft_s": first - start if first is not None and start is not None else None,
        "e2e_s": end - start if end is not None and start is not None else None,
        "prompt_tokens": prompt, "output_tokens": output, "error": error, "output_text": text,
    }  # fmt: skip


def _count(fields: Fields, key: str, metrics: str) -> int | None:
    return _first(fields.count(key), fields.inner(metrics).count("total_tokens"))


def _first(*values: Any) -> Any:
    for value in values:  # a generator would take longer than the checks
        if value is not None:
            return value
    return None
