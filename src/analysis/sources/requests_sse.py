"""Answers of OpenAI-style servers: captured event streams (JSON Lines with times, or as the wire has them) and bodies.

A captured line is `{"t": seconds, "data": event}`; `t` counts from the sending of the request, or is unix seconds.
"""

import re
from collections.abc import Iterator
from typing import Any

from analysis.sources.files import SourceFile
from analysis.sources.json_text import MAX_RECORD_CHARS, Fields, NotJsonError, keep_unparsed, objects, parse
from analysis.sources.openai_stream import Answer
from analysis.sources.reading import Reading

CAPTURE, BODIES = "sse-capture", "openai-responses"
UNIX_FROM_S, UNIX_TO_S = 1e9, 1e11
"""A capture's `t` in this range is unix seconds (2001 and later); above it the unit is not seconds."""
_CAPTURED = re.compile(r'\s*\{\s*"t"\s*:\s*[-\d.eE+]+\s*,\s*"data"\s*:')
_WIRE = re.compile(r"\s*(?:(?:event|id|retry)?:[^\n]*\r?\n\s*)*data:\s*(?:\{|\[DONE\])")
_BODY = re.compile(r'\s*\{.*"object"\s*:\s*"(?:text_completion|chat\.completion|error)"')

Event = tuple[int, float | None, Any]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a captured stream, or holds bodies of completions one a line."""
    text = head.removeprefix("\ufeff")
    return bool(_CAPTURED.match(text) or _WIRE.match(text) or _BODY.match(text))


def read(file: SourceFile) -> Reading:
    """One run; one row per answer. Without times in the capture its rows have none."""
    head = file.head().removeprefix("\ufeff")
    bodies = not (_CAPTURED.match(head) or _WIRE.match(head))
    reading = Reading("requests", BODIES if bodies else CAPTURE)
    run = f"{file.path}#1"
    events = _captured(file, reading) if _CAPTURED.match(head) else _wire(file, reading)
    for ordinal, answer in enumerate(_bodies(file, reading) if bodies else _streams(events, reading), start=1):
        times = [t for t in (*answer.event_at_s, answer.last_at_s) if t is not None]
        unix = bool(times) and min(times) >= UNIX_FROM_S
        sent = 0.0 if times and not unix and not bodies else None
        row = answer.row(sent, streamed=not bodies)
        clock = "unix" if unix else "none"
        reading.add("requests", run=run, line=answer.line, ordinal=ordinal, clock=clock, **row)
    reading.add("request_runs", run=run, ordinal=1, format=reading.format)
    return reading


def _captured(file: SourceFile, reading: Reading) -> Iterator[Event]:
    for line, values in objects(file, reading):
        at = Fields(values, "captured event", line, reading).number("t")
        if at is not None and not 0 <= at < UNIX_TO_S:
            keep_unparsed(reading, line, "captured event: t is not seconds", repr(at))
            at = None
        data = values.get("data")
        yield from _event(line, at, data.removeprefix("data:").strip() if isinstance(data, str) else data, reading)


def _wire(file: SourceFile, reading: Reading) -> Iterator[Event]:
    for line, text in file.lines(longest=MAX_RECORD_CHARS):
        if text.startswith("data:"):
            yield from _event(line, None, text[5:].strip(), reading)


def _event(line: int, at: float | None, data: Any, reading: Reading) -> Iterator[Event]:
    if data == "[DONE]" or isinstance(data, dict):
        yield line, at, data
        return
    try:
        value = parse(data) if isinstance(data, str) else None
    except NotJsonError:
        value = None
    if isinstance(value, dict):
        yield line, at, value
    else:
        keep_unparsed(reading, line, "stream event", data)


def _streams(events: Iterator[Event], reading: Reading) -> list[Answer]:
    """The answers in the order of their first events; [DONE] and errors, which carry no id, end the one before them."""
    answers: list[Answer] = []
    open_answers: dict[str, Answer] = {}
    current: Answer | None = None
    for line, at, data in events:
        if data == "[DONE]":
            if current is not None:
                current.done, current.last_at_s = True, at if at is not None else current.last_at_s
                open_answers.pop(current.id or "", None)
            current = None
            continue
        key = data.get("id") if isinstance(data.get("id"), str) else None
        answer = open_answers.get(key) if key is not None else current
        if answer is None:
            answer = Answer(reading, "stream event", line)
            answers.append(answer)
            if key is not None:
                open_answers[key] = answer
        answer.line, first = line, answer.line
        answer.add(at, data)
        answer.line, current = first, answer
    return answers


def _bodies(file: SourceFile, reading: Reading) -> Iterator[Answer]:
    for line, values in objects(file, reading):
        answer = Answer(reading, "completion", line)
        answer.add(None, values)
        yield answer
