"""Our own request trace: JSON Lines, one request a line, unix seconds of the client's clock (data/README.md)."""

import re
from types import NoneType
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from msgspec.json import Decoder

from analysis.sources.files import SourceFile
from analysis.sources.json_plain import ODD, Count, HttpStatus, Number, Numbers
from analysis.sources.json_text import MAX_CONTAINERS, MAX_INTEGER, MAX_RECORD_CHARS, Fields, keep_unparsed, object_of
from analysis.sources.reading import Reading, Row

FORMAT = "request-trace"
Status = Literal["ok", "error", "incomplete", "aborted"]
Outcome = Literal["pass", "retry", "abstain", "repair"]
"""What came of the answer, in the client's judgement: used as it is, asked for again, declined, or mended."""
_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("request_id", "sent_at")]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a request trace: an object with request_id and sent_at at its start."""
    return head.lstrip("\ufeff \r\n")[:1] == "{" and all(key.search(head) for key in _KEYS)


class _Request(Struct, rename={"kind": "class"}, gc=False):
    """What a line tells, checked. Read at once from a line that holds nothing odd."""

    status: Status
    request_id: str | None
    sent_at: Number | None
    token_at: Numbers | None = None
    tokens_cum: list[Annotated[int, Meta(ge=0, lt=MAX_INTEGER)] | None] | None = None
    first_token_at: Number | None = None
    finished_at: Number | None = None
    server_id: str | None = None
    kind: str | None = None
    phase: str | None = None
    prompt_tokens: Count | None = None
    output_tokens: Count | None = None
    finish_reason: str | None = None
    http_status: HttpStatus | None = None
    valid: bool | None = None
    error: str | None = None
    output_text: str | None = None
    outcome: Outcome | None = None
    attempt: Count | None = None


_decode = Decoder(_Request).decode


def read(file: SourceFile) -> Reading:
    """One run, one row per line. `token_at` holds chunk arrivals: tokens only where tokens_cum rises by one at each."""
    reading = Reading("requests", FORMAT)
    run = f"{file.path}#1"
    rows: list[Row] = []
    ordinal = 0
    for number, line in file.lines(longest=MAX_RECORD_CHARS):
        request = _plain(line)
        if request is None:
            values = object_of(number, line, reading)
            if values is None:
                continue
            request = _careful(Fields(values, "request trace", number, reading))
        ordinal += 1
        if request is not None:
            rows.append(_row(request, run, number, ordinal))
    if rows:
        reading.tables["requests"] = rows
    reading.add("request_runs", run=run, ordinal=1, format=FORMAT)
    return reading


def _plain(line: str) -> _Request | None:
    """The request of a line; None where anything is odd."""
    if len(line) > MAX_CONTAINERS or "\\u0000" in line:
        return None
    try:
        request = _decode(line)
    except ODD:
        return None
    counts = request.tokens_cum
    return request if not counts or len(counts) == len(request.token_at or ()) else None


def _careful(fields: Fields) -> _Request | None:
    """The request of an object, a key at a time; None where it is none."""
    if "request_id" not in fields.values or "sent_at" not in fields.values:
        keep_unparsed(fields.reading, fields.line, "request trace line without request_id or sent_at", fields.values)
        return None
    told = fields.text("status")
    status = next((known for known in get_args(Status) if known == told), None)
    if status is None:
        keep_unparsed(fields.reading, fields.line, "request trace: status", repr(told))
        return None
    events = fields.numbers("token_at")
    return _Request(
        status=status, token_at=events, tokens_cum=_cumulated(fields, events),
        sent_at=fields.number("sent_at"), first_token_at=fields.number("first_token_at"),
        finished_at=fields.number("finished_at"), request_id=fields.text("request_id"),
        server_id=fields.text("server_id"), kind=fields.text("class"), phase=fields.text("phase"),
        prompt_tokens=fields.count("prompt_tokens"), output_tokens=fields.count("output_tokens"),
        finish_reason=fields.text("finish_reason"), http_status=fields.http_status("http_status"),
        valid=fields.flag("valid"), error=fields.words("error"), output_text=fields.text("output_text"),
        outcome=_outcome(fields), attempt=fields.count("attempt"),
    )  # fmt: skip


def _row(request: _Request, run: str, line: int, ordinal: int) -> Row:
    events, sent, first, finished = request.token_at, request.sent_at, request.first_token_at, request.finished_at
    cumulated, event = _counted(request.tokens_cum)
    return {
        "run": run, "line": line, "ordinal": ordinal, "clock": "unix",
        "request": request.request_id, "server_request": request.server_id,
        "class": request.kind, "phase": request.phase, "status": request.status,
        "sent_at_s": sent, "first_token_at_s": first, "finished_at_s": finished,
        "last_token_at_s": events[-1] if events else None, "token_at_s": events or None,
        "ttft_s": first - sent if first is not None and sent is not None else None,
        "e2e_s": finished - sent if finished is not None and sent is not None else None,
        "token_event": event if events else None, "tokens_cum": cumulated,
        "prompt_tokens": request.prompt_tokens, "output_tokens": request.output_tokens,
        "tokens_counted_by": "server",
        "finish_reason": request.finish_reason, "http_status": request.http_status,
        "valid": request.valid, "error": request.error or None, "output_text": request.output_text,
        "outcome": request.outcome, "attempt": request.attempt,
    }  # fmt: skip


def _counted(cumulated: list[int | None] | None) -> tuple[list[int | None] | None, str]:
    """The counts, where there are any, and what an event stands for."""
    if cumulated == list(range(1, len(cumulated or ()) + 1)):
        return cumulated or None, "token" if cumulated else "chunk"
    return (cumulated if cumulated and any(count is not None for count in cumulated) else None), "chunk"


def _cumulated(fields: Fields, events: list[float] | None) -> list[int | None] | None:
    """Tokens up to each event; null at an event that carried no count, as from a server that counts only at the end."""
    values = fields.array("tokens_cum") or []
    kinds = set(map(type, values))
    if kinds <= {NoneType}:
        return None
    counts = values if kinds == {int} else [value for value in values if value is not None]
    known = kinds <= {int, NoneType} and min(counts) >= 0 and max(counts) < MAX_INTEGER
    if not known or events is None or len(values) != len(events):
        keep_unparsed(fields.reading, fields.line, "request trace: tokens_cum", values[:20])
        return None
    return values


def _outcome(fields: Fields) -> Outcome | None:
    told = fields.text("outcome")
    outcome = next((known for known in get_args(Outcome) if known == told), None)
    if told is not None and outcome is None:
        keep_unparsed(fields.reading, fields.line, "request trace: outcome", repr(told))
    return outcome
