"""Our own request trace: JSON Lines, one request a line, unix seconds of the client's clock (data/README.md)."""

import re
from typing import Any

from analysis.sources.files import SourceFile
from analysis.sources.json_text import MAX_INTEGER, Fields, keep_unparsed, objects
from analysis.sources.reading import Reading

FORMAT = "request-trace"
STATUSES = ("ok", "error", "incomplete", "aborted")
OUTCOMES = ("pass", "retry", "abstain", "repair")
"""What came of the answer, in the client's judgement: used as it is, asked for again, declined, or mended."""
_KEYS = [re.compile(rf'"{key}"\s*:') for key in ("request_id", "sent_at")]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a request trace: an object with request_id and sent_at at its start."""
    return head.lstrip("\ufeff \r\n")[:1] == "{" and all(key.search(head) for key in _KEYS)


def read(file: SourceFile) -> Reading:
    """One run, one row per line. `token_at` holds chunk arrivals: tokens only where tokens_cum rises by one at each."""
    reading = Reading("requests", FORMAT)
    run = f"{file.path}#1"
    for ordinal, (line, values) in enumerate(objects(file, reading), start=1):
        if "request_id" not in values or "sent_at" not in values:
            keep_unparsed(reading, line, "request trace line without request_id or sent_at", repr(values))
            continue
        row = _row(Fields(values, "request trace", line, reading))
        if row is not None:
            reading.add("requests", run=run, line=line, ordinal=ordinal, clock="unix", **row)
    reading.add("request_runs", run=run, ordinal=1, format=FORMAT)
    return reading


def _row(fields: Fields) -> dict[str, Any] | None:
    status = fields.text("status")
    if status not in STATUSES:
        keep_unparsed(fields.reading, fields.line, "request trace: status", repr(fields.values.get("status")))
        return None
    events = fields.numbers("token_at")
    cumulated = _cumulated(fields, events)
    sent, first, finished = (fields.number(key) for key in ("sent_at", "first_token_at", "finished_at"))
    return {
        "request": fields.text("request_id"), "server_request": fields.text("server_id"),
        "class": fields.text("class"), "phase": fields.text("phase"), "status": status,
        "sent_at_s": sent, "first_token_at_s": first, "finished_at_s": finished,
        "last_token_at_s": events[-1] if events else None, "token_at_s": events or None,
        "ttft_s": first - sent if first is not None and sent is not None else None,
        "e2e_s": finished - sent if finished is not None and sent is not None else None,
        "token_event": _event(cumulated) if events else None, "tokens_cum": cumulated,
        "prompt_tokens": fields.count("prompt_tokens"), "output_tokens": fields.count("output_tokens"),
        "tokens_counted_by": "server",
        "finish_reason": fields.text("finish_reason"), "http_status": fields.http_status("http_status"),
        "valid": fields.flag("valid"), "error": fields.words("error"), "output_text": fields.text("output_text"),
        "outcome": _outcome(fields), "attempt": fields.count("attempt"),
    }  # fmt: skip


def _cumulated(fields: Fields, events: list[float] | None) -> list[int | None] | None:
    """Tokens up to each event; null at an event that carried no count, as from a server that counts only at the end."""
    values = fields.array("tokens_cum")
    if not values or all(value is None for value in values):
        return None
    counts = [value for value in values if value is not None]
    known = set(map(type, counts)) == {int} and min(counts) >= 0 and max(counts) < MAX_INTEGER
    if not known or events is None or len(values) != len(events):
        keep_unparsed(fields.reading, fields.line, "request trace: tokens_cum", repr(values[:20]))
        return None
    return values


def _outcome(fields: Fields) -> str | None:
    outcome = fields.text("outcome")
    if outcome is None or outcome in OUTCOMES:
        return outcome
    keep_unparsed(fields.reading, fields.line, "request trace: outcome", repr(outcome))
    return None


def _event(cumulated: list[int | None] | None) -> str:
    return "token" if cumulated == list(range(1, len(cumulated or ()) + 1)) else "chunk"
