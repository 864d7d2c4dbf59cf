"""inference-perf's reports: `per_request_lifecycle_metrics.json` (a list), stage and summary files. All in seconds."""

import re
from typing import Any

import polars as pl

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_columns import Objects
from analysis.sources.json_plain import Checks
from analysis.sources.json_text import Fields, summary
from analysis.sources.reading import Reading
from analysis.sources.request_columns import status

PER_REQUEST, STAGE = "inference-perf-per-request", "inference-perf-stage"
CHECKS: Checks = {
    # chunk_times are arrivals; output_token_times may have been spread anew by the client's tokenizer
    "info.response_metrics.chunk_times": Fields.numbers, "info.response_metrics.output_token_times": Fields.numbers,
    "start_time": Fields.number, "end_time": Fields.number,
    "info.response_metrics.output_tokens": Fields.count,
    "info.response_metrics.server_usage.completion_tokens": Fields.count,
    "info.request_metrics.text.input_tokens": Fields.count, "info.input_tokens": Fields.count,
    "info.response_metrics.server_usage.prompt_tokens": Fields.count,
    "error": Fields.words, "response": Fields.text,
}  # fmt: skip
_REQUESTS = Objects(CHECKS)
_STAGE_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("load_summary", "successes")]
_REQUEST_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("start_time", "end_time", "request")]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a list of requests with times, or an object with load_summary and successes."""
    start = head.lstrip("\ufeff \r\n")[:1]
    keys = _REQUEST_KEYS if start == "[" else _STAGE_KEYS
    return start in ("[", "{") and all(key.search(head) for key in keys)


def read(file: SourceFile) -> Reading:
    """One run. Request times count from the boot of the client's machine (perf_counter), not from 1970."""
    reading = Reading("requests", PER_REQUEST)
    requests = _REQUESTS.of_file(file, "inference-perf request", reading, _one)
    if isinstance(requests, dict):
        return _stage(requests, file)
    if not isinstance(requests, pl.DataFrame):
        raise UnreadableFileError(f"{file.path}: neither inference-perf's list of requests nor a stage report")
    run = f"{file.path}#1"
    if requests.height:
        reading.tables["requests"] = _rows(requests, run)  # type: ignore[assignment]  # columns: rows take long
    reading.add("request_runs", run=run, ordinal=1, format=PER_REQUEST)
    return reading


def _one(fields: Fields) -> list[Any]:
    """One request, in the order of the checks; what has a better source is not looked at, and null."""
    info = fields.inner("info")
    response = info.inner("response_metrics")
    arrivals = response.numbers("chunk_times")
    spread = None if arrivals else response.numbers("output_token_times")
    start, end = fields.number("start_time"), fields.number("end_time")
    tokens, by_server = response.count("output_tokens"), response.inner("server_usage").count("completion_tokens")
    asked = info.inner("request_metrics").inner("text").count("input_tokens")
    told = None if asked is not None else info.count("input_tokens")
    prompt = response.inner("server_usage").count("prompt_tokens")
    return [
        arrivals, spread, start, end, tokens, by_server, asked, told, prompt, fields.words("error"),
        fields.text("response"),
    ]  # fmt: skip


def _rows(requests: pl.DataFrame, run: str) -> pl.DataFrame:
    """The rows of the store."""
    (
        arrivals, spread, start, end, by_client, by_server, asked, told, prompt_by_server, error, response,
    ) = map(pl.col, CHECKS)  # fmt: skip
    times = pl.when(arrivals.list.len() > 0).then(arrivals).otherwise(spread)
    events = pl.when(times.list.len() > 0).then(times)
    first, tokens = events.list.first(), pl.coalesce(by_server, by_client)
    server, client = by_server.is_not_null(), by_client.is_not_null()
    event = pl.when(events.list.len() == tokens).then(pl.lit("token")).otherwise(pl.lit("chunk"))
    return requests.select(
        "ordinal", run=pl.lit(run), clock=pl.lit("monotonic"),
        sent_at_s=start, first_token_at_s=first, last_token_at_s=events.list.last(), finished_at_s=end,
        ttft_s=first - start, e2e_s=end - start,
        token_at_s=events, token_event=pl.when(events.is_not_null()).then(event),
        prompt_tokens=pl.coalesce(prompt_by_server, asked, told), output_tokens=tokens,
        tokens_counted_by=pl.when(server).then(pl.lit("server")).when(client).then(pl.lit("client")),
        status=status(error, tokens), error=error, output_text=response,
    )  # fmt: skip


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
