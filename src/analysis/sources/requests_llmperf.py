"""llmperf's files: the list of individual responses, and the summary with flattened `results_...` keys. In seconds."""

from typing import Any

import polars as pl

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_columns import Objects, row_of
from analysis.sources.json_plain import Checks
from analysis.sources.json_text import Fields, summary
from analysis.sources.reading import Reading
from analysis.sources.request_columns import status, zero_is_null

INDIVIDUAL, SUMMARY = "llmperf-individual", "llmperf-summary"
CHECKS: Checks = {
    "error_code": Fields.words, "error_msg": Fields.words, "number_output_tokens": Fields.count,
    "ttft_s": Fields.number, "end_to_end_latency_s": Fields.number, "number_input_tokens": Fields.count,
    "inter_token_latency_s": Fields.number,
}  # fmt: skip
_RESPONSES = Objects(CHECKS)


def recognise(head: str, name: str) -> bool:
    """Whether the file has llmperf's keys."""
    individual = '"inter_token_latency_s"' in head and '"number_output_tokens"' in head
    return individual or '"results_ttft_s_' in head or '"results_number_output_tokens_' in head


def read(file: SourceFile) -> Reading:
    """One run. The list of responses has no times of day, so only durations are known."""
    reading = Reading("requests", INDIVIDUAL)
    # the tool extends its list with a dict at the end of a run: bare key names, which are no objects
    responses = _RESPONSES.of_file(file, "llmperf response", reading, lambda fields: row_of(fields, CHECKS))
    if isinstance(responses, dict):
        return _summary(responses, file)
    if not isinstance(responses, pl.DataFrame):
        raise UnreadableFileError(f"{file.path}: neither llmperf's list of responses nor its summary")
    run = f"{file.path}#1"
    rows = _rows(responses, run)
    if rows.height:
        reading.tables["requests"] = rows.drop("gap")  # type: ignore[assignment]  # columns: rows take long
    gaps = rows.filter(status="ok")["gap"].drop_nulls().to_list()
    mean = sum(gaps) / len(gaps) if gaps else None
    # under the name that the tool's own summary gives to the mean of its per-request figure
    reading.add(
        "request_runs", run=run, ordinal=1, format=INDIVIDUAL,
        tool_summary=summary({"results_inter_token_latency_s_mean": mean}),
    )  # fmt: skip
    return reading


def _rows(responses: pl.DataFrame, run: str) -> pl.DataFrame:
    """The rows of the store, and `gap`, the tool's mean of each request."""
    told = pl.concat_str("error_code", "error_msg", separator=" ", ignore_nulls=True)
    error, tokens = pl.when(told != "").then(told), pl.col("number_output_tokens")
    return responses.select(
        "ordinal", run=pl.lit(run), clock=pl.lit("none"),
        ttft_s=zero_is_null("ttft_s"), e2e_s=zero_is_null("end_to_end_latency_s"),
        prompt_tokens=zero_is_null("number_input_tokens"), output_tokens=tokens, tokens_counted_by=pl.lit("client"),
        status=status(error, tokens), error=error, gap=pl.col("inter_token_latency_s"),
    )  # fmt: skip


def _summary(value: dict[str, Any], file: SourceFile) -> Reading:
    reading = Reading("requests", SUMMARY)
    fields = Fields(value, "llmperf summary", 1, reading)
    started, failed = fields.number("timestamp"), fields.count("results_number_errors")
    reading.add(
        "request_runs", run=f"{file.path}#1", ordinal=1, format=SUMMARY, started_at_s=started,
        concurrency=fields.number("num_concurrent_requests"), failed=failed,
        completed=fields.count("results_num_completed_requests"), tool_summary=summary(value),
    )  # fmt: skip
    return reading
