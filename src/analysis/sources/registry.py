"""Which reader takes a file: asked in this order, by content, never by place."""

import re
from importlib import import_module
from typing import Protocol

from analysis.sources.files import HEAD_BYTES, SourceFile
from analysis.sources.reading import Reading

# JSON names itself by its keys, metric pages by their grammar; a log is what has a known line, so it comes last.
ORDER = (
    "decision_toml",
    "published_toml",
    "study_toml",
    "fleet_files",
    "prometheus_json",
    "requests_vllm",
    "requests_guidellm",
    "requests_aiperf",
    "requests_inference_perf",
    "requests_llmperf",
    "requests_trace",
    "requests_sse",
    "requests_console",
    "host",
    "prometheus_text",
    "boot_log",
)


LONG_HEAD_BYTES = 4 << 20
"""An engine's output may follow that of an installer, and fill more than the beginning of the file."""

_HTML = re.compile(r"\s*<(!doctype\s+html|html)\b", re.I)
_JSON_ERROR = re.compile(r'\s*\{\s*"(detail|error)"\s*:')


class Reader(Protocol):
    """A module of this room that reads one family of formats."""

    @staticmethod
    def recognise(head: str, name: str) -> bool:
        """Whether a file is of this family: `head` is its first 64 KiB, decoded; `name` its path in the study."""
        ...

    @staticmethod
    def read(file: SourceFile) -> Reading:
        """The rows of the file. Raises UnreadableFileError with one sentence when nothing can be read."""
        ...


def readers() -> list[Reader]:
    """The reader modules, in the order in which they are asked."""
    return [import_module(f"analysis.sources.{name}") for name in ORDER]  # type: ignore[misc]


def reader_of(file: SourceFile) -> Reader | None:
    """The first reader that recognises the file, or None. What its beginning does not show, its first 4 MiB may."""
    for size in (HEAD_BYTES, LONG_HEAD_BYTES):
        head = file.head(size)
        if found := next((reader for reader in readers() if reader.recognise(head, file.path)), None):
            return found
        if file.size <= HEAD_BYTES:
            break
    return None


def why_not_recognised(file: SourceFile) -> str:
    """One sentence on a file that no reader takes: what it is instead, where its beginning tells, and what to do."""
    head = file.head()
    if not head.strip("\ufeff\0 \t\r\n"):
        return "empty; fetch or copy it again"
    if _HTML.match(head.lstrip("\ufeff")):
        if file.path.lower().endswith((".html", ".htm")):
            return "an HTML page; no HTML is read"
        return "an HTML page (an error answer of a server or proxy?), not metrics; fetch /metrics again"
    if _JSON_ERROR.match(head.lstrip("\ufeff")):
        return "JSON that begins like a server's error answer; fetch it again, or see docs/formats for what is read"
    return "no reader recognises its content; see docs/formats for what is read"
