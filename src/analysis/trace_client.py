"""A small streaming client: chats and long prompts side by side, every arrival written down as a request trace.

It exists to answer whose turn it is (notebook 70) on an engine of one's own. Closed loop: each stream sends its next
request when the last is done. It talks to one OpenAI-style completions endpoint and to no other place; it follows no
redirect and uses no proxy. Python's standard library only.
"""

import http.client
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from analysis.sources.openai_stream import Answer
from analysis.sources.reading import Reading

MAX_LINE = 1 << 20
MAX_PROMPT_FILE = 64 << 20
TIMEOUT_S = 120.0
"""How long a connection may be silent."""


class TraceError(Exception):
    """Why there is no trace: one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """One class of requests: its prompts, how many streams send them, and the output tokens asked for."""

    name: str  # chat | batch
    prompts: list[str]
    streams: int
    max_tokens: int


@dataclass(slots=True)
class Endpoint:
    """Where the requests go, and the model they name."""

    host: str
    port: int
    path: str
    secure: bool
    model: str = ""

    def connect(self) -> http.client.HTTPConnection:
        """A new connection; nothing is sent yet."""
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        return kind(self.host, self.port, timeout=TIMEOUT_S)


@dataclass(slots=True)
class Tracer:
    """One run: what is sent where, until `seconds` are over or `requests` were sent; rows go to `out` as they end."""

    endpoint: Endpoint
    out: TextIO
    requests: int
    run_id: str
    phase: str = ""
    sent: int = 0
    written: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    live: set[http.client.HTTPConnection] = field(default_factory=set)
    clock: Callable[[], float] = field(default_factory=lambda: steady_clock())

    def run(self, alone: tuple[Traffic, ...], together: tuple[Traffic, ...], alone_s: float, seconds: float) -> None:
        """Send `alone` for `alone_s`, then `together` too, until `seconds` are over. Ctrl-C ends it; rows stay."""
        began = time.monotonic()
        threads: list[threading.Thread] = []
        try:
            for phase, traffics, until in (("chat-alone", alone, alone_s), ("mixed", together, seconds)):
                self.phase = phase
                threads += [t for traffic in traffics for t in self._start(traffic)]
                while time.monotonic() - began < until and any(t.is_alive() for t in threads):
                    self.stopping.wait(0.05)
        finally:
            self._stop()
            for thread in threads:
                thread.join(timeout=10)

    def _start(self, traffic: Traffic) -> Iterator[threading.Thread]:
        for number in range(traffic.streams):
            prompts = cycle(traffic.prompts[number:] + traffic.prompts[:number])
            thread = threading.Thread(target=self._stream, args=(traffic, prompts), daemon=True)
            thread.start()
            yield thread

    def _stream(self, traffic: Traffic, prompts: Iterator[str]) -> None:
        for number in count(1):
            with self.lock:
                if self.stopping.is_set() or self.sent >= self.requests:
                    return
                self.sent += 1
                name = f"{self.run_id}-{traffic.name}-{self.sent}"
            row = self._one(name, traffic, f"{name}\n{next(prompts)}")  # a new first line: nothing is in a prefix cache
            self._write(row)
            if row["status"] == "error":
                self.stopping.wait(min(number, 5))

    def _one(self, name: str, traffic: Traffic, prompt: str) -> dict[str, Any]:
        """Send one request and read its stream to the end; the row of the trace, whatever happened."""
        answer = Answer(Reading("requests", "trace"), "trace", 1)
        row: dict[str, Any] = {
            "request_id": name, "class": traffic.name, "phase": self.phase, "run_id": self.run_id,
            "max_tokens": traffic.max_tokens,
        }  # fmt: skip
        counts: list[int | None] = []
        connection = self.endpoint.connect()
        with self.lock:
            self.live.add(connection)
        row["sent_at"] = self.clock()
        try:
            response = _ask(connection, self.endpoint, prompt, traffic.max_tokens)
            row["http_status"] = response.status
            for at, event in _events(response, self.clock):
                before = len(answer.event_at_s)
                answer.add(at, event)
                if len(answer.event_at_s) > before:
                    counts.append((event.get("usage") or {}).get("completion_tokens"))
            answer.done = answer.finish_reason is not None
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            answer.error = answer.error or f"{type(error).__name__}: {error}"[:300]
        finally:
            row["finished_at"] = self.clock()
            with self.lock:
                self.live.discard(connection)
            connection.close()
        return row | self._result(answer, counts)

    def _result(self, answer: Answer, counts: list[int | None]) -> dict[str, Any]:
        known = answer.row(None)
        cut = self.stopping.is_set() and not answer.done
        return {
            "server_id": known["server_request"], "first_token_at": known["first_token_at_s"],
            "token_at": answer.event_at_s, "tokens_cum": counts if any(c is not None for c in counts) else [],
            "prompt_tokens": known["prompt_tokens"], "output_tokens": known["output_tokens"],
            "finish_reason": known["finish_reason"], "status": "aborted" if cut else known["status"],
            "error": None if cut else known["error"],
        }  # fmt: skip

    def _write(self, row: dict[str, Any]) -> None:
        with self.lock:
            self.out.write(json.dumps(row) + "\n")
            self.out.flush()
            self.written += 1

    def _stop(self) -> None:
        """Let no further request begin, and end those that run: their rows say aborted."""
        self.stopping.set()
        with self.lock:
            live = list(self.live)
        for connection in live:
            if connection.sock is not None:
                try:
                    connection.sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # it was closed in between


def steady_clock() -> Callable[[], float]:
    """Unix seconds that do not jump when the machine's clock is set."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()


def endpoint(url: str, *, allow_remote: bool = False) -> Endpoint:
    """The completions endpoint at a base URL. Raises TraceError for one that is not on this machine, unless allowed."""
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise TraceError(f"{url!r} is no address of an engine: give one like http://127.0.0.1:8000")
    if not allow_remote and not _is_loopback(parts.hostname):
        raise TraceError(
            f"{parts.hostname} is not this machine, and a trace is a load: add REMOTE=yes if the engine may be loaded"
        )
    secure = parts.scheme == "https"
    base = parts.path.rstrip("/").removesuffix("/completions").removesuffix("/v1")
    return Endpoint(parts.hostname, parts.port or (443 if secure else 80), f"{base}/v1", secure)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def first_model(place: Endpoint) -> str:
    """The name of the first model that the engine serves. Raises TraceError when it does not say."""
    connection = place.connect()
    try:
        connection.request("GET", f"{place.path}/models")
        body = json.loads(connection.getresponse().read(MAX_LINE))
        return str(body["data"][0]["id"])
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as error:
        where = f"{place.host}:{place.port}{place.path}/models"
        raise TraceError(f"{where} does not name a model ({error}): is the engine up? else give MODEL=...") from None
    finally:
        connection.close()


def read_prompts(file: Path) -> list[str]:
    """The prompts of a file: one a line, as text or as JSON with the key `prompt`. Raises TraceError without any."""
    try:
        if file.stat().st_size > MAX_PROMPT_FILE:
            raise TraceError(f"{file} is larger than {MAX_PROMPT_FILE >> 20} MiB: give fewer prompts")
        lines = [line for line in file.read_text("utf-8").splitlines() if line.strip()]
        prompts = [str(json.loads(line)["prompt"]) if line.startswith("{") else line for line in lines]
    except (OSError, ValueError, KeyError) as error:
        raise TraceError(f"{file} cannot be read as prompts, one a line or JSON with the key prompt: {error}") from None
    if not prompts:
        raise TraceError(f"{file} holds no prompt: write one a line")
    return prompts


def _ask(
    connection: http.client.HTTPConnection, place: Endpoint, prompt: str, max_tokens: int
) -> http.client.HTTPResponse:
    body = {
        "model": place.model, "prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }  # fmt: skip
    connection.request("POST", f"{place.path}/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        said = response.read(300).decode("utf-8", "replace")
        raise ValueError(f"HTTP {response.status}: {said}")
    return response


def _events(response: http.client.HTTPResponse, clock: Callable[[], float]) -> Iterator[tuple[float, dict[str, Any]]]:
    """The events of a stream with their arrival, to its end or its [DONE]."""
    while line := response.readline(MAX_LINE):
        at = clock()
        data = line.strip().removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        if line.startswith(b"data:") and isinstance(event := json.loads(data), dict):
            yield at, event
