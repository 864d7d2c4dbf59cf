"""Results of `vllm bench serve` and of SGLang's `bench_serving`, which share their shape: one JSON object a run.

Parallel arrays hold one entry a request, in seconds; figures with `_ms` in their names are milliseconds. A file may
hold several objects, one a line (`--append-result`, and always for SGLang).
"""

from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import Any

import polars as pl
from msgspec import Raw
from msgspec.json import Decoder

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_columns import Arrays, of_rows, row_of
from analysis.sources.json_plain import ODD, Checks, plain_document
from analysis.sources.json_text import (
    MAX_DOCUMENT_CHARS,
    Fields,
    document,
    finite,
    keep_unparsed,
    objects,
    parse,
    summary,
)
from analysis.sources.reading import Reading, Row
from analysis.sources.request_columns import end_to_end, running_sums, status, zero_is_null

VLLM, VARIANT, SGLANG = "vllm-bench-serve", "vllm-bench-serve-variant", "sglang-bench-serving"
SGLANG_KEYS = {"total_output_tokens_retokenized", "total_throughput", "server_info", "mean_e2e_latency_ms"}
CHECKS: Checks = {
    "input_lens": Fields.count, "output_lens": Fields.count, "ttfts": Fields.duration, "itls": Fields.durations,
    "latencies": Fields.duration, "start_times": Fields.number, "generated_texts": Fields.text, "errors": Fields.words,
}  # fmt: skip
"""The arrays with an entry a request, and what each entry has to be."""
_Plain = tuple[dict[str, Any], pl.DataFrame]
"""The arrays of a result with nothing odd in them, and as columns."""
_Result = tuple[int, dict[str, Any], _Plain | None]
"""The line of a result, what it tells, and its arrays where they are not among that."""
_ARRAYS, _MEMBERS = Arrays(CHECKS), Decoder(dict[str, Raw])
BARE_SECONDS = ("ttft", "tpot", "itl", "e2el")


def recognise(head: str, name: str) -> bool:
    """Whether the file holds bench results: an object with completed and duration, and a total or a rate."""
    keys = {key for key in _MARKS if f'"{key}":' in head or f'"{key}" :' in head}
    return head.lstrip("\ufeff \r\n")[:1] == "{" and keys >= {"completed", "duration"} and len(keys) > 2


_MARKS = ("completed", "duration", "request_throughput", "total_input_tokens", "num_prompts")


def read(file: SourceFile) -> Reading:
    """One run per object; rows per request where the arrays are there (`--save-detailed`, `--output-details`)."""
    reading = Reading("requests", VLLM)
    requests = []
    for ordinal, (line, result, plain) in enumerate(_results(file, reading), start=1):
        reading.format = _format(Fields(result, "bench result", line, reading))
        fields = Fields(result, f"{reading.format} result", line, reading)
        requests += _run(fields, f"{file.path}#{ordinal}", ordinal, plain)
    if requests:
        reading.tables["requests"] = _rows(pl.concat(requests))  # type: ignore[assignment]  # columns: rows take long
    if "request_runs" not in reading.tables:
        raise UnreadableFileError(f"{file.path}: no whole result in it; write the result file again")
    return reading


def _results(file: SourceFile, reading: Reading) -> list[_Result]:
    """The objects of the file: one JSON value over many lines, or one a line."""
    try:
        if plain := _plain(plain_document(file)):
            return [(1, *plain)]
        value = document(file)
    except UnreadableFileError:
        lines: list[_Result] = [
            (n, v, None) for n, v in objects(file, reading, MAX_DOCUMENT_CHARS) if _is_result(v, n, reading)
        ]
        if not lines:
            raise
        return lines
    return [(1, value, None)] if isinstance(value, dict) else []


def _plain(text: bytes) -> tuple[dict[str, Any], _Plain] | None:
    """The one result in a text but for its arrays, and these. None where anything is odd."""
    try:
        texts = _MEMBERS.decode(text)
        arrays = _ARRAYS.of_texts(texts)
        result, requests = {key: parse(part) for key, part in texts.items() if key not in arrays}, _ARRAYS.frame(arrays)
        duration = result.get("duration")
        fits = not isinstance(duration, int | float) or _longest(requests) <= duration
    except ODD:
        return None
    return (result, (arrays, requests)) if fits else None


def _is_result(value: dict[str, Any], line: int, reading: Reading) -> bool:
    if "completed" in value and "duration" in value:
        return True
    keep_unparsed(reading, line, "bench result without completed or duration", value)
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


def _run(fields: Fields, run: str, ordinal: int, plain: _Plain | None) -> list[pl.DataFrame]:
    """Add the row of the run; the checked arrays of its requests, a row a request, where there are any."""
    reading = fields.reading
    arrays, requests = plain or _checked(fields)
    duration, completed = fields.duration("duration"), fields.count("completed")
    if requests is None or (duration is not None and _longest(requests) > duration):
        arrays = {key: _in_seconds(key, values, duration, fields) for key, values in arrays.items()}
        requests = None
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
    if not arrays:
        return []
    requests = of_rows(_each(arrays, fields), CHECKS) if requests is None else requests
    label = fields.values.get("class")  # --metadata class=chat
    told = pl.lit(label if isinstance(label, str) else None, pl.String).alias("class")
    return [requests.with_columns(told, *_ADDED, run=pl.lit(run), line=pl.lit(fields.line, pl.Int64))]


def _rate(fields: Fields) -> float | None:
    """The request rate; "inf" (all at once) and Infinity are null here and kept in the summary."""
    return None if fields.values.get("request_rate") == "inf" else fields.number("request_rate")


def _checked(fields: Fields) -> tuple[dict[str, list[Any]], pl.DataFrame | None]:
    """The arrays, and as columns where nothing in them is odd."""
    arrays = _arrays(fields)
    return arrays, _ARRAYS.of_lists(arrays)


def _arrays(fields: Fields) -> dict[str, list[Any]]:
    """The per-request arrays by name; none when their lengths differ, for then no entry is known to be whose."""
    arrays = {key: values for key in CHECKS if (values := fields.array(key))}
    lengths = {key: len(values) for key, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        keep_unparsed(fields.reading, fields.line, f"{fields.what}: arrays of different lengths", repr(lengths))
        return {}
    return arrays


def _in_seconds(key: str, values: list[Any], duration: float | None, fields: Fields) -> list[Any]:
    """The array; all null where an entry outlasts the run: the arrays name no unit, and seconds it cannot be."""
    if key not in ("ttfts", "itls", "latencies") or duration is None:
        return values
    times = list(chain.from_iterable(entry if isinstance(entry, list) else (entry,) for entry in values))
    if finite(times) is None:
        times = [time for time in times if isinstance(time, int | float) and time < inf]
    longest = max(times, default=0)
    if longest <= duration:
        return values
    keep_unparsed(fields.reading, fields.line, f"{fields.what}: {key} longer than the run, of unknown unit", longest)
    return [None] * len(values)


def _longest(requests: pl.DataFrame) -> float:
    """The longest time in the arrays."""
    gaps, _ = end_to_end(requests["itls"])
    return max(gaps.max(initial=0.0), *(requests[key].max() or 0.0 for key in ("ttfts", "latencies")))


def _each(arrays: dict[str, list[Any]], fields: Fields) -> Iterator[list[Any]]:
    """What each request has in the arrays, in the order of the checks."""
    what = f"{fields.what}, request"
    for values in zip(*arrays.values(), strict=True):
        entry = Fields(dict(zip(arrays, values, strict=True)), what, fields.line, fields.reading)
        yield row_of(entry, CHECKS)


def _rows(requests: pl.DataFrame) -> pl.DataFrame:
    """The rows of the store.

    Without its gaps nothing is known of a request after its first token; no gaps are known to be none by an empty list.
    """
    events = running_sums(requests["ttft_s"], requests["itls"])
    return requests.hstack([events.alias("event_s")]).select(_COLUMNS)


def _columns() -> list[pl.Expr]:
    start, ttft, events, gaps, tokens, error = map(
        pl.col, ("start_times", "ttft_s", "event_s", "itls", "output_lens", "errors")
    )
    has_gaps, last = gaps.list.len() > 0, events.list.last()
    e2e = pl.coalesce(zero_is_null("latencies"), last)
    columns = {
        "clock": pl.when(start.is_null()).then(pl.lit("none")).otherwise(pl.lit("monotonic")),
        "sent_at_s": start, "first_token_at_s": start + ttft, "last_token_at_s": start + last,
        "finished_at_s": start + e2e, "ttft_s": ttft, "e2e_s": e2e,
        "token_at_s": pl.when(has_gaps & start.is_not_null()).then(start + events),
        "itl_s": pl.when(has_gaps).then(gaps), "token_event": pl.when(has_gaps).then(pl.lit("chunk")),
        "prompt_tokens": pl.col("input_lens"), "output_tokens": tokens, "status": status(error, tokens),
        "error": error, "output_text": pl.col("generated_texts"),
    }  # fmt: skip
    return [pl.col("run", "line", "ordinal", "class"), *(column.alias(name) for name, column in columns.items())]


_ADDED = [pl.int_range(1, pl.len() + 1).alias("ordinal"), zero_is_null("ttfts").alias("ttft_s")]
_COLUMNS = _columns()
"""Made once: a study may have thousands of small results."""
