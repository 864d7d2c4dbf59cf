"""inference-perf's reports: `per_request_lifecycle_metrics.json` (a list), stage and summary files. All in seconds."""

import re
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import Fields, document, keep_unparsed, summary
from analysis.sources.reading import Reading, Row

PER_REQUEST, STAGE = "inference-perf-per-request", "inference-perf-stage"
_STAGE_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("load_summary", "successes")]
_REQUEST_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("start_time", "end_time", "request")]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a list of requests with times, or an object with load_summary and successes."""
    start = head.lstrip("\ufeff \r\n")[:1]
    keys = _REQUEST_KEYS if start == "[" else _STAGE_KEYS
    return start in ("[", "{") and all(key.search(head) for key in keys)


def read(file: SourceFile) -> Reading:
    """One run. Request times count from the boot of the client's machine (perf_counter), not from 1970."""
    value = document(file)
    if isinstance(value, dict):
        return _stage(value, file)
    if not isinstance(value, list):
        raise UnreadableFileError(f"{file.path}: neither inference-perf's list of requests nor a stage report")
    reading = Reading("requests", PER_REQUEST)
    run = f"{file.path}#1"
    for ordinal, entry in enumerate(value, start=1):
        if isinstance(entry, dict):
            row = _row(Fields(entry, f"inference-perf request {ordinal}", 1, reading))
            reading.add("requests", run=run, ordinal=ordinal, clock="monotonic", **row)
        else:
            keep_unparsed(reading, 1, f"inference-perf request {ordinal}: not an object", entry)
    reading.add("request_runs", run=run, ordinal=1, format=PER_REQUEST)
    return reading


def _row(fields: Fields) -> Row:
    info = fields.inner("info")
    response = info.inner("response_metrics")
    # chunk_times are arrivals; output_token_times may have been spread anew by the client's tokenizer
    events = response.numbers("chunk_times") or response.numbers("output_token_times") or []
    start, end, first = fields.number("start_time"), fields.number("end_time"), events[0] if events else None
    tokens, counted_by = _tokens(response, "completion_tokens", response.count("output_tokens"))
    asked = info.inner("request_metrics").inner("text").count("input_tokens")
    prompt, _ = _tokens(response, "prompt_tokens", asked if asked is not None else info.count("input_tokens"))
    error = fields.words("error")
    return {
        "sent_at_s": start, "first_token_at_s": first, "last_token_at_s": events[-1] if events else None,
        "finished_at_s": end, "token_at_s": events or None, "token_event": _event(response, events, tokens),
        "ttft_s": first - start if first is not None and start is not None else None,
        "e2e_s": end - start if end is not None and start is not None else None,
        "prompt_tokens": prompt, "output_tokens": tokens, "tokens_counted_by": counted_by,
        "status": "error" if error is not None or tokens == 0 else "ok",
        "error": error, "output_text": fields.text("response"),
    }  # fmt: skip


def _tokens(response: Fields, key: str, by_client: int | None) -> tuple[int | None, str | None]:
    by_server = response.inner("server_usage").count(key)
    if by_server is not None:
        return by_server, "server"
    return by_client, "client" if by_client is not None else None


def _event(response: Fields, events: list[float], tokens: int | None) -> str | None:
    return ("token" if len(events) == tokens else "chunk") if events else None


def _stage(value: dict[str, Any], file: SourceFile) -> Reading:
    reading = Reading("requests", STAGE)
    fields = Fields(value, "inference-perf stage", 1, reading)
    load = fields.inner("load_summary")
    reading.add(
        "request_runs", run=f"{file.path}#1", ordinal=1, format=STAGE,
        duration_s=fields.number("benchmark_time_seconds"),
        concurrency=load.number("concurrency"), request_rate=load.number("requested_rate"),
        completed=fields.inner("successes").count("count"), failed=fields.inner("failures").count("count"),
        tool_summary=summary(value),
    )  # fmt: skip
    return reading
