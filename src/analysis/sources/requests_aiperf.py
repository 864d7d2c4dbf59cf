"""aiperf's exports: per-request records (JSON Lines), raw records with every packet, and the summary JSON.

Times of day are unix nanoseconds; each metric states its own unit, which is honoured and never assumed.
"""

import re
from itertools import accumulate
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import Fields, NotJsonError, document, finite, keep_unparsed, objects, parse, summary
from analysis.sources.openai_stream import Answer
from analysis.sources.reading import Reading, Row

RECORDS, RAW, SUMMARY, INPUTS = "aiperf-jsonl", "aiperf-raw", "aiperf-summary", "aiperf-inputs"
SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
_RECORD = re.compile(r'\s*\{\s*"metadata"\s*:\s*\{.*?"(?:request_start_ns|credit_issued_ns|benchmark_phase)"\s*:')
_SUMMARY = [
    re.compile(mark) for mark in (r'"request_(?:throughput|latency|count)"\s*:\s*\{', r'"unit"\s*:', r'"avg"\s*:')
]
_INPUTS = re.compile(r'\s*\{\s*"data"\s*:\s*\[\s*\{\s*"session_id"')


def recognise(head: str, name: str) -> bool:
    """Whether the file is aiperf's records, raw records, summary, or the list of prompts it sent."""
    text = head.removeprefix("\ufeff")
    return bool(_RECORD.match(text) or _INPUTS.match(text)) or _is_summary(text)


def _is_summary(text: str) -> bool:
    return text.lstrip()[:1] == "{" and all(mark.search(text) for mark in _SUMMARY)


def read(file: SourceFile) -> Reading:
    """One run. In raw records token times and finish reasons are there; in plain ones chunk gaps, where streamed."""
    head = file.head().removeprefix("\ufeff")
    if _INPUTS.match(head):
        return Reading("other", INPUTS)  # the prompts that were sent: nothing was measured
    if not _RECORD.match(head):
        return _summary(file)
    reading = Reading("requests", RECORDS)
    run = f"{file.path}#1"
    for ordinal, (line, values) in enumerate(objects(file, reading), start=1):
        fields = Fields(values, "aiperf record", line, reading)
        if "metadata" not in values:
            keep_unparsed(reading, line, "aiperf record without metadata", repr(values))
            continue
        if "responses" in values or "start_perf_ns" in values:
            reading.format = RAW
            row = _raw(fields)
        else:
            row = _record(fields)
        reading.add("requests", run=run, line=line, ordinal=ordinal, **row)
    reading.add("request_runs", run=run, ordinal=1, format=reading.format)
    return reading


def _common(fields: Fields) -> Row:
    about = fields.inner("metadata")
    start, end = about.number("request_start_ns", 1e-9), about.number("request_end_ns", 1e-9)
    error = fields.words("error")
    status = "aborted" if about.flag("was_cancelled") else ("error" if error is not None else "ok")
    return {
        "request": about.text("x_request_id"), "phase": about.text("benchmark_phase"), "status": status,
        "clock": "unix" if start is not None else "none", "sent_at_s": start, "finished_at_s": end, "error": error,
    }  # fmt: skip


def _record(fields: Fields) -> Row:
    row, metrics = _common(fields), fields.inner("metrics")
    ttft, e2e = _seconds(metrics, "time_to_first_token"), _seconds(metrics, "request_latency")
    gaps = _gaps(metrics)
    start = row["sent_at_s"]
    first = start + ttft if start is not None and ttft is not None else None
    tokens = metrics.inner("usage_completion_tokens").count("value")
    prompt = metrics.inner("usage_prompt_tokens").count("value")
    by_client = metrics.inner("output_sequence_length").count("value")
    counted_by = "server" if tokens is not None else ("client" if by_client is not None else None)
    return {
        **row, "first_token_at_s": first, "ttft_s": ttft, "e2e_s": e2e,
        "finished_at_s": start + e2e if start is not None and e2e is not None else row["finished_at_s"],
        "token_at_s": list(accumulate(gaps, initial=first)) if gaps and first is not None else None,
        "itl_s": gaps or None, "token_event": "chunk" if gaps else None,
        "prompt_tokens": prompt if prompt is not None else metrics.inner("input_sequence_length").count("value"),
        "output_tokens": tokens if tokens is not None else by_client, "tokens_counted_by": counted_by,
    }  # fmt: skip


def _seconds(metrics: Fields, key: str) -> float | None:
    metric = metrics.inner(key)
    scale = SECONDS.get(str(metric.values.get("unit")))
    if metric.values and scale is None:
        keep_unparsed(metrics.reading, metrics.line, f"{metrics.what}: unit of {key}", metric.values.get("unit"))
        return None
    return metric.number("value", scale or 1.0)


def _gaps(metrics: Fields) -> list[float] | None:
    metric = metrics.inner("inter_chunk_latency")
    values = metric.values.get("value")
    scale = SECONDS.get(str(metric.values.get("unit")))
    gaps = finite(values, scale) if isinstance(values, list) and scale is not None else None
    if gaps is None and metric.values:
        keep_unparsed(metrics.reading, metrics.line, f"{metrics.what}: inter_chunk_latency", repr(metric.values))
    return gaps


def _raw(fields: Fields) -> Row:
    """A raw record: perf counters are placed on the unix clock by the request's start, which is known on both."""
    row = _common(fields)
    anchor, start = fields.number("start_perf_ns"), row["sent_at_s"]
    answer = Answer(fields.reading, fields.what, fields.line)
    streamed = False
    for response in fields.array("responses") or ():
        if not isinstance(response, dict):
            keep_unparsed(fields.reading, fields.line, f"{fields.what}: response", response)
            continue
        perf = Fields(response, fields.what, fields.line, fields.reading).number("perf_ns")
        at = (perf - anchor) * 1e-9 + start if None not in (perf, anchor, start) else None  # type: ignore[operator]
        streamed = streamed or "packets" in response
        for text in _texts(response):
            _add(answer, at, text)
    status, error = row["status"], row["error"]
    row |= {k: v for k, v in answer.row(start, streamed).items() if k not in ("request", "status", "error")}
    row["error"] = error if error is not None else answer.error
    row["status"] = status if status != "ok" or answer.error is None else "error"
    row["http_status"] = fields.http_status("status")
    return row


def _texts(response: dict[str, Any]) -> list[Any]:
    packets = response.get("packets")
    if not isinstance(packets, list):
        return [response.get("text")]
    return [
        packet.get("value") for packet in packets if isinstance(packet, dict) and packet.get("name") in ("data", None)
    ]


def _add(answer: Answer, at: float | None, text: Any) -> None:
    if text == "[DONE]":
        answer.done, answer.last_at_s = True, at
        return
    try:
        value = parse(text) if isinstance(text, str) else None
    except NotJsonError:
        value = None
    if isinstance(value, dict):
        answer.add(at, value)
    elif text is not None:
        keep_unparsed(answer.reading, answer.line, f"{answer.what}: packet", text)


def _summary(file: SourceFile) -> Reading:
    value = document(file)
    if not isinstance(value, dict):
        raise UnreadableFileError(f"{file.path}: not an aiperf summary")
    reading = Reading("requests", SUMMARY)
    fields = Fields(value, "aiperf summary", 1, reading)
    failed = fields.inner("error_request_count").count("avg")
    if failed is None and value.get("error_summary") == []:
        failed = 0  # the tool lists its errors, and there are none
    reading.add(
        "request_runs", run=f"{file.path}#1", ordinal=1, format=SUMMARY, tool_version=fields.text("aiperf_version"),
        duration_s=_average_seconds(fields, "benchmark_duration"),
        completed=fields.inner("request_count").count("avg"), failed=failed, tool_summary=summary(value),
    )  # fmt: skip
    return reading


def _average_seconds(fields: Fields, key: str) -> float | None:
    metric = fields.inner(key)
    scale = SECONDS.get(str(metric.values.get("unit")))
    return metric.number("avg", scale) if scale is not None else None
