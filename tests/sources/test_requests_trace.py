"""Our own request trace."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.sources import requests_trace
from analysis.sources.files import walk
from analysis.sources.json_text import MAX_RECORD_CHARS
from analysis.sources.reading import Reading

SAMPLES = Path(__file__).parents[1] / "samples" / "requests"


def read(folder: Path, *lines: dict[str, Any] | str) -> Reading:
    (folder / "t.jsonl").write_text("".join((li if isinstance(li, str) else json.dumps(li)) + "\n" for li in lines))
    file = walk(folder)[0][0]
    assert requests_trace.recognise(file.head(), file.path)
    return requests_trace.read(file)


def line(**changes: Any) -> dict[str, Any]:
    return {
        "request_id": "r", "server_id": "s", "class": "chat", "phase": "mixed", "sent_at": 100.0,
        "first_token_at": 100.5, "token_at": [100.5, 101.0, 102.0], "tokens_cum": [1, 2, 3], "finished_at": 102.25,
        "prompt_tokens": 9, "output_tokens": 3, "finish_reason": "stop", "http_status": 200, "status": "ok",
        "valid": True, "error": None,
    } | changes  # fmt: skip


def test_a_line_becomes_a_row(tmp_path: Path) -> None:
    row = read(tmp_path, line()).tables["requests"][0]
    want = {
        "run": "t.jsonl#1", "line": 1, "ordinal": 1, "clock": "unix", "request": "r", "server_request": "s",
        "class": "chat", "phase": "mixed", "status": "ok", "sent_at_s": 100.0, "first_token_at_s": 100.5,
        "last_token_at_s": 102.0, "finished_at_s": 102.25, "ttft_s": 0.5, "e2e_s": 2.25,
        "token_at_s": [100.5, 101.0, 102.0],
        "token_event": "token", "tokens_cum": [1, 2, 3], "prompt_tokens": 9, "output_tokens": 3,
        "tokens_counted_by": "server", "finish_reason": "stop", "http_status": 200, "valid": True, "error": None,
        "output_text": None, "outcome": None, "attempt": None,
    }  # fmt: skip
    assert row == want


@pytest.mark.parametrize(
    ("cumulated", "kept", "event"),
    [
        ([1, 3, 4], [1, 3, 4], "chunk"),  # two tokens in one chunk
        ([None, None, 3], [None, None, 3], "chunk"),  # a server that counts at the end
        ([None, None, None], None, "chunk"),
    ],
)
def test_a_chunk_is_a_token_only_when_the_counts_say_so(
    tmp_path: Path, cumulated: list[int | None], kept: list[int | None] | None, event: str
) -> None:
    reading = read(tmp_path, line(tokens_cum=cumulated))
    row = reading.tables["requests"][0]
    assert (row["tokens_cum"], row["token_event"], reading.unparsed) == (kept, event, [])


@pytest.mark.parametrize("cumulated", [[1, 2], [1, 2, 2.5], [1, 2, -3], [1, 2, True], "123"])
def test_counts_that_cannot_be_are_unparsed(tmp_path: Path, cumulated: Any) -> None:
    reading = read(tmp_path, line(tokens_cum=cumulated))
    assert reading.tables["requests"][0]["tokens_cum"] is None
    assert [u.what for u in reading.unparsed] == ["request trace: tokens_cum"]


def test_what_does_not_parse_is_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = (
        line(),
        "{broken",
        "[]",
        "",
        line(status="maybe"),
        {"note": 1},
        line(sent_at="now"),
        '{"request_id": "r", "s',
    )
    reading = read(tmp_path, *lines)
    assert [r["line"] for r in reading.tables["requests"]] == [1, 7]
    assert reading.tables["requests"][1]["sent_at_s"] is None
    assert [u.line for u in reading.unparsed] == [2, 3, 5, 6, 7, 8]


def test_a_line_without_end_is_cut_and_the_next_is_read(tmp_path: Path) -> None:
    endless = '{"request_id": "r", "sent_at": ' + "1" * MAX_RECORD_CHARS
    reading = read(tmp_path, line(), endless, line())
    assert [r["line"] for r in reading.tables["requests"]] == [1, 3]
    assert [u.line for u in reading.unparsed] == [2]
    assert 0 < len(reading.unparsed[0].text) <= 400


@pytest.mark.parametrize("status", [10**17, 0, -200, 99])
def test_a_status_code_is_one_of_http(tmp_path: Path, status: int) -> None:
    reading = read(tmp_path, line(http_status=status))
    assert reading.tables["requests"][0]["http_status"] is None
    assert [u.what for u in reading.unparsed] == ["request trace: http_status"]


def test_recorded_lines() -> None:
    file = next(f for f in walk(SAMPLES)[0] if f.path == "trace.jsonl")
    reading = requests_trace.read(file)
    rows = reading.tables["requests"]
    assert reading.unparsed == []
    assert [(r["status"], r["token_event"]) for r in rows] == [
        ("ok", "token"), ("ok", "token"), ("aborted", "token"), ("aborted", "token"), ("error", None), ("error", None),
        ("ok", "chunk"),
    ]  # fmt: skip
    assert rows[4]["http_status"] == 400
