"""The tracing client against a small streaming server of its own, and its trace through the whole study."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from analysis import paths
from analysis import trace_client as client
from analysis.commands import trace
from analysis.findings import turn_words, whose_turn
from analysis.study import Study

STEP_S, PREFILL_S = 0.01, 0.4
"""A decode step, and what a long prompt takes, while no stream gets a token: an exclusive engine."""


@dataclass
class Engine:
    """What the server does and what it saw."""

    behaviour: str = "ok"
    bodies: list[dict] = field(default_factory=list)
    step: threading.Condition = field(default_factory=threading.Condition)
    turn: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""


def _handler(engine: Engine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._whole(200, {"data": [{"id": "toy"}]} if engine.behaviour != "no models" else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            engine.bodies.append(body)
            if engine.behaviour == "refuse":
                self._whole(400, {"error": "too long"})
                return
            try:
                self._stream(body)
            except OSError:
                self.close_connection = True

        def _stream(self, body: dict) -> None:
            self.send_response(302 if engine.behaviour == "redirect" else 200)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            prompt = len(body["prompt"].split())
            with engine.turn:
                time.sleep(PREFILL_S if prompt > 500 else STEP_S)
            for number in range(1, body["max_tokens"] + 1):
                with engine.turn:  # nobody gets a token while a long prompt holds the engine
                    pass
                usage = {"prompt_tokens": prompt, "completion_tokens": number}
                self._event({"id": "srv", "choices": [{"text": "x"}], "usage": usage})
                if engine.behaviour == "cut" and number == 3:
                    self.close_connection = True
                    self.wfile.write(b"0\r\n\r\n")
                    return
                if engine.behaviour == "garbage" and number == 3:
                    self._send(b"data: {not json}\n\n")
                time.sleep(STEP_S)
            self._event({"id": "srv", "choices": [{"text": "", "finish_reason": "length"}]})
            self._send(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")

        def _event(self, event: dict) -> None:
            self._send(b"data: " + json.dumps(event).encode() + b"\n\n")

        def _send(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def _whole(self, status: int, body: dict) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(engine))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    engine.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield engine
    server.shutdown()
    server.server_close()


@pytest.fixture
def prompts(tmp_path: Path) -> tuple[Path, Path]:
    chat, batch = tmp_path / "chat.txt", tmp_path / "batch.jsonl"
    chat.write_text("say a word\n\nsay another\n")
    batch.write_text(json.dumps({"prompt": "word " * 3000}) + "\n")
    return chat, batch


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "analysis", "trace", *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent)},
    )  # fmt: skip


def _rows(out: Path) -> list[dict]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_a_trace_says_whose_turn_it_is(
    engine: Engine, prompts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line to the verdict: the toy server runs each long prompt as one block."""
    out = tmp_path / "study" / "trace.jsonl"
    out.parent.mkdir()
    run = _run(engine.url, *map(str, prompts), "--seconds", "10", "--out", str(out))
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == str(out)
    rows = _rows(out)
    ok = [row for row in rows if row["status"] == "ok"]
    assert {(row["class"], row["phase"]) for row in rows} == {
        ("chat", "chat-alone"), ("chat", "mixed"), ("batch", "mixed"),
    }  # fmt: skip
    assert all(row["tokens_cum"] == list(range(1, row["max_tokens"] + 1)) for row in ok)
    assert all(row["sent_at"] <= row["token_at"][0] == row["first_token_at"] for row in ok)
    assert {row["finish_reason"] for row in ok} == {"length"}
    assert len({body["prompt"].splitlines()[0] for body in engine.bodies}) == len(engine.bodies)  # no prefix twice
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    study = Study(out.parent)
    assert study.sql("select count(*) as n from unparsed")["n"].item() == 0
    (found,) = whose_turn.runs(study.connection)
    assert found.verdict.verdict == "one_block", turn_words.in_words(found)
    assert found.of(whose_turn.BLOCK).value == 3001


def test_ctrl_c_writes_what_it_has(engine: Engine, prompts: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "trace.jsonl"
    command = [sys.executable, "-m", "analysis", "trace", engine.url, *map(str, prompts), "--out", str(out)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent)},
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (out.exists() and out.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 0, stderr
    assert "stopped early; what ended so far is written" in stderr
    assert stdout.splitlines()[-1] == str(out)
    statuses = [row["status"] for row in _rows(out)]
    assert set(statuses) <= {"ok", "aborted"}
    assert statuses.count("aborted") >= 1
    assert all(row["error"] is None for row in _rows(out))


def _trace(engine: Engine, prompts: tuple[Path, Path], out: Path, requests: int = 4, seconds: float = 5) -> list[dict]:
    place = client.endpoint(engine.url)
    place.model = "toy"
    chats = client.Traffic("chat", client.read_prompts(prompts[0]), 2, 5)
    with out.open("x") as file:
        client.Tracer(place, file, requests, "r").run((chats,), (), seconds / 2, seconds)
    return _rows(out)


def test_requests_and_time_are_bounded(engine: Engine, prompts: tuple[Path, Path], tmp_path: Path) -> None:
    assert len(_trace(engine, prompts, tmp_path / "a.jsonl", requests=4)) == 4
    assert len(engine.bodies) == 4
    began = time.monotonic()
    rows = _trace(engine, prompts, tmp_path / "b.jsonl", requests=10_000, seconds=0.5)
    assert time.monotonic() - began < 5
    assert len(rows) < 200


@pytest.mark.parametrize(
    ("behaviour", "status", "error"),
    [
        ("refuse", "error", 'HTTP 400: {"error": "too long"}'),
        ("cut", "incomplete", None),
        ("garbage", "error", "JSONDecodeError"),
        ("redirect", "error", "HTTP 302"),
    ],
)
def test_what_goes_wrong_is_a_row_of_its_own(
    engine: Engine, prompts: tuple[Path, Path], tmp_path: Path, behaviour: str, status: str, error: str | None
) -> None:
    engine.behaviour = behaviour
    rows = _trace(engine, prompts, tmp_path / "trace.jsonl", requests=2, seconds=3)
    assert [row["status"] for row in rows] == [status] * 2
    assert all((error or "") in (row["error"] or "") for row in rows)
    assert all(len(row["token_at"]) == {"cut": 3, "garbage": 3}.get(behaviour, 0) for row in rows)


@pytest.mark.parametrize(
    "url", ["http://example.org:8000", "http://10.0.0.7", "http://127.0.0.1.example.org", "http://[2001:db8::1]:80"]
)
def test_other_machines_are_refused_unless_allowed(url: str) -> None:
    with pytest.raises(client.TraceError, match="is not this machine"):
        client.endpoint(url)
    assert client.endpoint(url, allow_remote=True).path == "/v1"


@pytest.mark.parametrize("url", ["", "ftp://127.0.0.1", "http://user:secret@127.0.0.1", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(client.TraceError, match="is no address"):
        client.endpoint(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000, "/v1"),
        ("http://localhost:1/v1/", "localhost", 1, "/v1"),
        ("https://[::1]/base/v1/completions", "::1", 443, "/base/v1"),
    ],
)
def test_addresses_of_this_machine(url: str, host: str, port: int, path: str) -> None:
    place = client.endpoint(url)
    assert (place.host, place.port, place.path) == (host, port, path)


def test_prompts_are_lines_or_json(prompts: tuple[Path, Path], tmp_path: Path) -> None:
    assert client.read_prompts(prompts[0]) == ["say a word", "say another"]
    assert client.read_prompts(prompts[1]) == ["word " * 3000]
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    for file, why in ((empty, "holds no prompt"), (tmp_path / "none.txt", "cannot be read as prompts")):
        with pytest.raises(client.TraceError, match=why):
            client.read_prompts(file)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--seconds", "0"], "more than none"),
        (["--seconds", "1e9"], "at most 3600 seconds"),
        (["--requests", "99999999"], "10000 requests"),
        (["--chats", "1000"], "between 1 and 64"),
    ],
)
def test_limits_are_kept(prompts: tuple[Path, Path], more: list[str], why: str) -> None:
    run = _run("http://127.0.0.1:9", *map(str, prompts), *more)
    assert run.returncode == 1
    assert why in run.stderr
    assert "Traceback" not in run.stderr


def test_a_trace_is_never_overwritten(engine: Engine, prompts: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "trace.jsonl"
    out.write_text("precious")
    run = _run(engine.url, *map(str, prompts), "--out", str(out))
    assert run.returncode == 1
    assert "never overwritten" in run.stderr
    assert out.read_text() == "precious"


def test_an_engine_that_is_not_there_or_names_no_model_is_said(engine: Engine, prompts: tuple[Path, Path]) -> None:
    engine.behaviour = "no models"
    for url in (engine.url, "http://127.0.0.1:9"):
        run = _run(url, *map(str, prompts))
        assert run.returncode == 1
        assert "does not name a model" in run.stderr
        assert "Traceback" not in run.stderr


def test_the_command_is_one_of_the_makefile() -> None:
    assert trace.__doc__
    makefile = (paths.ROOT / "Makefile").read_text()
    assert '-m analysis trace "$${URL:-}" "$${CHAT:-}" "$${BATCH:-}"' in makefile
