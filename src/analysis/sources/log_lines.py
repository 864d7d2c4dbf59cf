"""A log line without what was put around it: container, journal and shell prefixes, colour, JSON and logfmt records.

Outer wrappers are taken off first, one after another, until none is left. What a wrapper says about the source
(compose service, pod, unit) is kept as the service, because one file may hold several services.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

MAX_TEXT = 1 << 16
"""A longer text is cut here before anything is matched in it."""
MAX_FRONT = 1000
"""The wrappers of a line that name its service are within so many characters."""
SAME_SERVICE = ""
"""The service manager and the kernel speak about whichever service spoke last."""

_COLOUR = re.compile(r"(?:\x1b|\^\[|#033|\\x1b|\\u001b)\[[0-9;?]{0,16}[A-Za-z]|\[(?:\d{1,3};){0,4}\d{1,3}m")
_CRI = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d) (?:stdout|stderr) [FP] ")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)? +")
_COMPOSE = re.compile(r"(?P<service>[A-Za-z0-9][\w.@\-]{0,120}) {0,60}\| ?")
_POD = re.compile(r"\[pod/(?P<service>[^\]\s]{1,200})\] ")
_JOURNAL = re.compile(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )?[\w.\-]{1,80} (?P<service>[\w@.\-]{1,80})\[\d{1,10}\]: "
)
_GREP = re.compile(r"(?:[\w./\-]{1,200}\.(?:log|txt):)?\d{1,9}:(?=[^\d\s])")
_BORDER = re.compile(r"[│┃║] ?")
_LOGFMT = re.compile(r'(?P<before>.{0,200}?)\blevel=(?P<level>\w{1,10}) .{0,400}?\bmsg="(?P<message>(?:[^"\\]|\\.)*)"')
_MANAGERS = frozenset(("systemd", "kernel", "dockerd", "containerd", "kubelet"))
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "textPayload", "line")
# The same for an engine without lookahead: what must be in a line that names its service, and where it must be then.
_SERVICE = r"(?:\||\[pod/|\]: )"
_NAMED = (
    r"^(?:[│┃║\x00 ]|(?:\x1b|\^\[|#033|\\x1b|\\u001b)\[[0-9;?]*[A-Za-z]|\[[0-9;]+m"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+ +(?:std(?:out|err) [FP] )?|(?:[\w./\-][^\s|(]*\.(?:log|txt):)?[0-9]+:)*"
    r"(?:\[pod/|(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} )?[\w.\-][^\s\[|(]* [^\s\[|(]+\[[0-9]+\]: "
    rf"|[A-Za-z0-9][^\s\[|(]* *\||\{{.*{_SERVICE})"
)
_NAMED_INSIDE = rf'(?:msg="|\r[^\r]).*{_SERVICE}'


@dataclass(frozen=True, slots=True)
class LogText:
    """One piece of one line of a file: its text without wrappers, and the service that wrote it (None: not said)."""

    text: str
    service: str | None = None


def unwrap(line: str) -> Iterator[LogText]:
    """The text or texts of one physical line: a carriage return inside separates what a progress bar overwrote."""
    for piece in line.replace("\x00", "").split("\r"):
        if piece and not piece.isspace():
            yield _strip(piece[:MAX_TEXT])


def front(line: str, service: str) -> str | None:
    """A pattern at which lines begin that the same service wrote, whatever the time on them; None without one."""
    named = re.search(rf"(?<![\w.@\-]){re.escape(service)} {{0,60}}[|\[\]]", line[:MAX_FRONT])
    if named is None:
        return None
    before = re.sub(r"[0-9]+", "[0-9]+", re.escape(line[: named.start()]))
    return f"^{before}{re.escape(named[0])}"


def may_name_services(lines: pl.Series) -> pl.Series:
    """For each line, with or without its digits, whether it holds what is in a line that names its service."""
    return lines.str.contains(_SERVICE)


def name_services(lines: pl.Series) -> pl.Series:
    """For each line whether it names its service; of a record or an overwritten line, whether it may."""
    return may_name_services(lines) & (lines.str.contains(_NAMED) | lines.str.contains(_NAMED_INSIDE))


def _strip(text: str) -> LogText:
    service: str | None = None
    for _ in range(6):
        text = _COLOUR.sub("", text) if "[" in text else text
        inner, named = _peel(text)
        service = named if named is not None else service
        if inner == text:
            break
        text = inner
    return LogText(text, service)


def _peel(text: str) -> tuple[str, str | None]:
    """The text without its outermost wrapper, and the service it named."""
    if text[:1] == "{" and text.rstrip()[-1:] == "}":
        return _json_record(text), None
    if text[:1] in "│┃║":
        return _BORDER.sub("", text, count=1).rstrip(" │┃║"), None
    for wrapper in (_CRI, _RFC3339, _GREP):
        if match := wrapper.match(text):
            return text[match.end() :], None
    for wrapper in (_POD, _JOURNAL, _COMPOSE):
        if match := wrapper.match(text):
            named = match["service"]
            return text[match.end() :], SAME_SERVICE if named in _MANAGERS else named
    if 'msg="' in text and (match := _LOGFMT.match(text)):
        return f"{match['before']}{match['level'].upper()} {_unescape(match['message'])}", None
    return text, None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _json_record(text: str) -> str:
    """The message of a JSON record, with the process and the logger in front where it names them; else the text."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(record, dict):
        return text
    fields = record.get("fields")
    holder = fields if isinstance(fields, dict) else record
    message = next((holder[key] for key in _MESSAGE_KEYS if isinstance(holder.get(key), str)), None)
    if message is None:
        return text
    if "log" in holder:
        return message.rstrip("\n")
    process, pid, target = record.get("processName"), record.get("process"), record.get("target")
    prefix = f"({process} pid={pid}) " if isinstance(process, str) and isinstance(pid, int) else ""
    level = record.get("levelname") or record.get("level")
    prefix += f"{level} " if isinstance(level, str) else ""
    prefix += f"{target}: " if isinstance(target, str) else ""
    return f"{prefix}{message}".rstrip("\n")
