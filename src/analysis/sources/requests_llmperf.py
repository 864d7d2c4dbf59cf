"""llmperf's files: the list of individual responses, and the summary with flattened `results_...` keys. In seconds."""

from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import Fields, document, keep_unparsed, summary
from analysis.sources.reading import Reading, Row

INDIVIDUAL, SUMMARY = "llmperf-individual", "llmperf-summary"


def recognise(head: str, name: str) -> bool:
    """Whether the file has llmperf's keys."""
    individual = '"inter_token_latency_s"' in head and '"number_output_tokens"' in head
    return individual or '"results_ttft_s_' in head or '"results_number_output_tokens_' in head


def read(file: SourceFile) -> Reading:
    """One run. The list of responses has no times of day, so only durations are known."""
    value = document(file)
    if isinstance(value, dict):
        return _summary(value, file)
    if not isinstance(value, list):
        raise UnreadableFileError(f"{file.path}: neither llmperf's list of responses nor its summary")
    reading = Reading("requests", INDIVIDUAL)
    run = f"{file.path}#1"
    gaps: list[float] = []
    for ordinal, entry in enumerate(value, start=1):
        if not isinstance(entry, dict):  # the tool extends its list with a dict at the end of a run: bare key names
            keep_unparsed(reading, 1, f"llmperf response {ordinal}: not an object", entry)
            continue
        fields = Fields(entry, f"llmperf response {ordinal}", 1, reading)
        row = _row(fields)
        gap = fields.number("inter_token_latency_s")
        if row["status"] == "ok" and gap is not None:
            gaps.append(gap)
        reading.add("requests", run=run, ordinal=ordinal, clock="none", **row)
    mean = sum(gaps) / len(gaps) if gaps else None
    # under the name that the tool's own summary gives to the mean of its per-request figure
    reading.add(
        "request_runs", run=run, ordinal=1, format=INDIVIDUAL,
        tool_summary=summary({"results_inter_token_latency_s_mean": mean}),
    )  # fmt: skip
    return reading


def _row(fields: Fields) -> Row:
    code, message = fields.words("error_code"), fields.words("error_msg")
    tokens = fields.count("number_output_tokens")
    failed = code is not None or message is not None or tokens == 0
    times = {"ttft_s": fields.number("ttft_s") or None, "e2e_s": fields.number("end_to_end_latency_s") or None}
    return {
        **times,
        "prompt_tokens": fields.count("number_input_tokens") or None, "output_tokens": tokens,
        "tokens_counted_by": "client", "status": "error" if failed else "ok",
        "error": " ".join(part for part in (code, message) if part) or None if failed else None,
    }  # fmt: skip


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
