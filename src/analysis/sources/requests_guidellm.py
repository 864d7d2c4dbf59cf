"""guidellm's benchmarks.json, version 1 and 2: one run per benchmark of the sweep, its requests where they were kept.

Names without a unit are seconds, times of day are unix seconds. There are no gaps and no finish reasons in the file:
of the stream only the first and the last token are known.
"""

import re
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import Fields, document, keep_unparsed, summary
from analysis.sources.reading import Reading, Row

FORMAT = "guidellm"
GROUPS = {"successful": "ok", "errored": "error", "incomplete": "incomplete"}
_MARKS = [re.compile(mark) for mark in (r'"benchmarks"\s*:\s*\[', r'"guidellm_version"|"type_"\s*:\s*"generative_')]


def recognise(head: str, name: str) -> bool:
    """Whether the file is an object with guidellm's benchmarks."""
    return head.lstrip("\ufeff \r\n")[:1] == "{" and (all(m.search(head) for m in _MARKS) or bool(_TOP.match(head)))


_TOP = re.compile(r'\s*\{\s*"metadata"\s*:\s*\{[^{}]*"guidellm_version"')


def read(file: SourceFile) -> Reading:
    """One run per benchmark. Rows are only taken for counts when none was thinned out (`sample_size`)."""
    reading = Reading("requests", FORMAT)
    value = document(file)
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


def _benchmark(fields: Fields, run: str, ordinal: int, version: str | None) -> None:
    reading = fields.reading
    rows = _rows(fields)
    totals = _totals(fields)
    kept = {status: sum(row["status"] == status for row in rows) for status in GROUPS.values()}
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
        reading.add("requests", run=run, ordinal=number, clock="unix", **row)


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


def _rows(fields: Fields) -> list[Row]:
    groups = fields.inner("requests")
    rows: list[Row] = []
    for group, status in GROUPS.items():
        for number, entry in enumerate(groups.array(group) or (), start=1):
            if isinstance(entry, dict):
                rows.append(_row(Fields(entry, f"{fields.what}, {group} {number}", 1, fields.reading), status))
            else:
                keep_unparsed(fields.reading, 1, f"{fields.what}, {group} {number}: not an object", entry)
    return rows


def _row(fields: Fields, status: str) -> Row:
    """One request. Version 2 has its times under info.timings, version 1 at the top of the entry."""
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
    return {
        "request": fields.text("request_id"), "server_request": fields.text("response_id"), "status": status,
        "sent_at_s": start, "first_token_at_s": first, "last_token_at_s": last, "finished_at_s": end,
        "ttft_s": first - start if first is not None and start is not None else None,
        "e2e_s": end - start if end is not None and start is not None else None,
        "prompt_tokens": _count(fields, "prompt_tokens", "input_metrics"),
        "output_tokens": _count(fields, "output_tokens", "output_metrics"),
        "error": _first(info.words("error"), fields.words("error")), "output_text": output,
    }  # fmt: skip


def _count(fields: Fields, key: str, metrics: str) -> int | None:
    return _first(fields.count(key), fields.inner(metrics).count("total_tokens"))


def _first(*values: Any) -> Any:
    for value in values:  # a generator would take longer than the checks
        if value is not None:
            return value
    return None
