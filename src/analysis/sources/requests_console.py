"""The table that `vllm bench serve` and SGLang's `bench_serving` print at their end, alone or among log lines."""

import re

from analysis.sources.files import SourceFile
from analysis.sources.json_text import Fields, summary
from analysis.sources.reading import Reading

VLLM, SGLANG = "vllm-bench-console", "sglang-bench-console"
TITLE = re.compile(r"=+ Serving Benchmark Result =+")
ARGUMENTS = re.compile(
    r"^Namespace\([^\n]*num_prompts=[^\n]*request_rate=|^Namespace\(subparser='bench', bench_type='serve'", re.M
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
ENTRY = re.compile(r"([A-Z][^:]*?):\s+(\S+)\s*$")
END = re.compile(r"={20,}\s*$")
COUNTS = {"Successful requests": "completed", "Failed requests": "failed"}
NUMBERS = {
    "Benchmark duration (s)": "duration_s",
    "Maximum request concurrency": "concurrency",
    "Max request concurrency": "concurrency",
    "Request rate configured (RPS)": "request_rate",
    "Traffic request rate": "request_rate",
}


def recognise(head: str, name: str) -> bool:
    """Whether a benchmark table, or the arguments of a serving benchmark, are in the text."""
    return bool(TITLE.search(head) or ARGUMENTS.search(head))


def read(file: SourceFile) -> Reading:
    """One run per table, by the tool's own figures: there are no requests in it."""
    reading = Reading("requests", VLLM)
    table: dict[str, float | str] | None = None
    start = 0
    for number, line in file.lines():
        text = ANSI.sub("", line)
        if TITLE.search(text):
            _close(table, start, file, reading)
            table, start = {}, number
        elif table is not None and END.search(text):
            _close(table, start, file, reading)
            table = None
        elif table is not None and (found := ENTRY.search(text)):
            table[found[1]] = _value(found[2])
    _close(table, start, file, reading)
    if not reading.tables:
        reading.message = f"{file.path}: a bench run without its result table: it was cut off or it failed"
    return reading


def _value(text: str) -> float | str:
    try:
        return float(text) if len(text) < 40 else text
    except ValueError:
        return text


def _close(table: dict[str, float | str] | None, line: int, file: SourceFile, reading: Reading) -> None:
    if table is None:
        return
    if "Backend" in table or any("retokenized" in key for key in table):
        reading.format = SGLANG
    fields = Fields({k: v for k, v in table.items() if v != "inf"}, "bench table", line, reading)
    ordinal = len(reading.tables.get("request_runs", ())) + 1
    counts = {column: fields.count(label) for label, column in COUNTS.items()}
    numbers = {column: fields.number(label) for label, column in NUMBERS.items() if label in table}
    reading.add(
        "request_runs", run=f"{file.path}#{ordinal}", ordinal=ordinal, format=reading.format,
        tool_summary=summary(table), **counts, **numbers,
    )  # fmt: skip
