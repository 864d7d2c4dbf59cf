"""Results of `vllm bench serve` and of SGLang's `bench_serving`, which share their shape: one JSON object a run.

Parallel arrays hold one entry a request, in seconds; figures with `_ms` in their names are milliseconds. A file may
hold several objects, one a line (`--append-result`, and always for SGLang).
"""

from itertools import accumulate
from math import inf
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import MAX_DOCUMENT_CHARS, Fields, document, keep_unparsed, objects, summary
from analysis.sources.reading import Reading, Row

VLLM, VARIANT, SGLANG = "vllm-bench-serve", "vllm-bench-serve-variant", "sglang-bench-serving"
SGLANG_KEYS = {"total_output_tokens_retokenized", "total_throughput", "server_info", "mean_e2e_latency_ms"}
ARRAYS = ("input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "generated_texts", "errors")
BARE_SECONDS = ("ttft", "tpot", "itl", "e2el")


def recognise(head: str, name: str) -> bool:
    """Whether the file holds bench results: an object with completed and duration, and a total or a rate."""
    keys = {key for key in _MARKS if f'"{key}":' in head or f'"{key}" :' in head}
    return head.lstrip("\ufeff \r\n")[:1] == "{" and keys >= {"completed", "duration"} and len(keys) > 2


_MARKS = ("completed", "duration", "request_throughput", "total_input_tokens", "num_prompts")


def read(file: SourceFile) -> Reading:
    """One run per object; rows per request where the arrays are there (`--save-detailed`, `--output-details`)."""
    reading = Reading("requests", VLLM)
    for ordinal, (line, result) in enumerate(_results(file, reading), start=1):
        reading.format = _format(Fields(result, "bench result", line, reading))
        _run(Fields(result, f"{reading.format} result", line, reading), f"{file.path}#{ordinal}", ordinal)
    if "request_runs" not in reading.tables:
        raise UnreadableFileError(f"{file.path}: no whole result in it; write the result file again")
    return reading


def _results(file: SourceFile, reading: Reading) -> list[tuple[int, dict[str, Any]]]:
    """The objects of the file: one JSON value over many lines, or one a line."""
    try:
        value = document(file)
    except UnreadableFileError:
        lines = [(n, v) for n, v in objects(file, reading, MAX_DOCUMENT_CHARS) if _is_result(v, n, reading)]
        if not lines:
            raise
        return lines
    return [(1, value)] if isinstance(value, dict) else []


def _is_result(value: dict[str, Any], line: int, reading: Reading) -> bool:
    if "completed" in value and "duration" in value:
        return True
    keep_unparsed(reading, line, "bench result without completed or duration", repr(value))
    return False


def _format(fields: Fields) -> str:
    result = fields.values
    if SGLANG_KEYS & result.keys() or (str(result.get("backend")).startswith("sglang") and "date" not in result):
        return SGLANG
    named = any(key.endswith("_ms") for key in result)
    bare = [f"{s}_{figure}" for s in ("mean", "median", "p99") for figure in BARE_SECONDS if f"{s}_{figure}" in result]
    return VARIANT if bare and not named and _are_seconds(bare, fields) else VLLM


def _are_seconds(keys: list[str], fields: Fields) -> bool:
    """Whether figures without a unit can be seconds, as the tool's arrays are: no request outlasts its run."""
    duration, values = fields.number("duration"), [fields.number(key) for key in keys]
    known = [value for value in values if value is not None]
    if duration is None or not known or max(known) > duration:
        keep_unparsed(
            fields.reading,
            fields.line,
            "bench result: figures of unknown unit",
            repr(dict(zip(keys, values, strict=True))),
        )
        return False
    return True


def _run(fields: Fields, run: str, ordinal: int) -> None:
    reading, arrays = fields.reading, _arrays(fields)
    duration, completed = fields.duration("duration"), fields.count("completed")
    arrays = {key: _in_seconds(key, values, duration, fields) for key, values in arrays.items()}
    row: Row = {
        "run": run, "ordinal": ordinal, "format": reading.format,
        "tool_version": None, "started_at_s": fields.number("benchmark_start_time_unix"), "duration_s": duration,
        "concurrency": fields.number("max_concurrency"), "request_rate": _rate(fields),
        "tool_summary": summary(fields.values),
    }  # fmt: skip
    if not {"output_lens", "ttfts"} <= arrays.keys():  # not detailed: the tool's own counts are all there is
        failed = fields.count("failed")
        asked = fields.count("num_prompts")
        if failed is None and asked is not None and completed is not None and asked >= completed:
            failed = asked - completed
        row |= {"completed": completed, "failed": failed}
        if failed != 0 and "errors" not in arrays:
            arrays = {}  # the latencies of failed requests are among the others and cannot be told apart
    reading.add("request_runs", **row)
    for index, request in enumerate(_requests(arrays, fields)):
        reading.add("requests", run=run, line=fields.line, ordinal=index + 1, **request)


def _rate(fields: Fields) -> float | None:
    """The request rate; "inf" (all at once) and Infinity are null here and kept in the summary."""
    return None if fields.values.get("request_rate") == "inf" else fields.number("request_rate")


def _arrays(fields: Fields) -> dict[str, list[Any]]:
    """The per-request arrays by name; none when their lengths differ, for then no entry is known to be whose."""
    arrays = {key: values for key in ARRAYS if (values := fields.array(key))}
    lengths = {key: len(values) for key, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        keep_unparsed(fields.reading, fields.line, f"{fields.what}: arrays of different lengths", repr(lengths))
        return {}
    return arrays


def _in_seconds(key: str, values: list[Any], duration: float | None, fields: Fields) -> list[Any]:
    """The array; all null where an entry outlasts the run: the arrays name no unit, and seconds it cannot be."""
    if key not in ("ttfts", "itls", "latencies") or duration is None:
        return values
    times = [time for entry in values for time in (entry if isinstance(entry, list) else [entry])]
    longest = max((time for time in times if isinstance(time, int | float) and time < inf), default=0)
    if longest <= duration:
        return values
    keep_unparsed(fields.reading, fields.line, f"{fields.what}: {key} longer than the run, of unknown unit", longest)
    return [None] * len(values)


def _requests(arrays: dict[str, list[Any]], fields: Fields) -> list[Row]:
    size = len(next(iter(arrays.values()), ()))
    label = fields.values.get("class")  # --metadata class=chat
    columns = [arrays.get(key) or [None] * size for key in ARRAYS]
    what = f"{fields.what}, request"
    rows: list[Row] = []
    for values in zip(*columns, strict=True):
        entry = Fields(dict(zip(ARRAYS, values, strict=True)), what, fields.line, fields.reading)
        rows.append({"class": label if isinstance(label, str) else None, **_request(entry)})
    return rows


def _request(entry: Fields) -> Row:
    """One request. A time of exactly 0.0 is the tool's initial value: the event never came.

    Without its gaps nothing is known of a request after its first token; no gaps are known to be none by an empty list.
    """
    tokens, error = entry.count("output_lens"), entry.words("errors")
    failed = error is not None or tokens == 0
    ttft, latency = entry.duration("ttfts") or None, entry.duration("latencies") or None
    gaps, start = entry.durations("itls"), entry.number("start_times")
    events = list(accumulate(gaps, initial=ttft)) if ttft is not None and gaps is not None else []
    if latency is None and events:
        latency = events[-1]
    first = start + ttft if start is not None and ttft is not None else None
    return {
        "clock": "monotonic" if start is not None else "none",
        "sent_at_s": start, "first_token_at_s": first,
        "last_token_at_s": start + events[-1] if start is not None and events else None,
        "finished_at_s": start + latency if start is not None and latency is not None else None,
        "ttft_s": ttft, "e2e_s": latency,
        "token_at_s": list(map(start.__add__, events)) if start is not None and gaps else None,
        "itl_s": gaps or None, "token_event": "chunk" if gaps else None,
        "prompt_tokens": entry.count("input_lens"), "output_tokens": tokens,
        "status": "error" if failed else "ok", "error": error, "output_text": entry.text("generated_texts"),
    }  # fmt: skip
