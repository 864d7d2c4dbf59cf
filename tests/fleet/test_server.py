"""Servers that refuse, stall, shorten and warn; addresses that ask for too much or carry a secret."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib import parse

import pytest

from analysis.sources import prometheus_server
from analysis.sources.fleet_address import parse_address
from analysis.sources.prometheus_server import Server, ServerError

Form = dict[str, list[str]]
Reply = Callable[[str, Form], tuple[int, dict[str, str], bytes]]
GOOD = "prometheus+http://h:9090/?match=job%3D%22vllm%22&start=2026-11-29T13:00:00Z&end=2026-11-29T14:00:00Z"


@pytest.fixture
def answering() -> Iterator[Callable[[Reply], tuple[Server, list[dict[str, str]]]]]:
    """A server that answers as a function says, waits that do not wait, and the headers it was sent."""
    started: list[http.server.ThreadingHTTPServer] = []

    def start(reply: Reply) -> tuple[Server, list[dict[str, str]]]:
        seen: list[dict[str, str]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                seen.append(dict(self.headers))
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                code, headers, data = reply(self.path, parse.parse_qs(body))
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        started.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=started[-1].serve_forever, daemon=True).start()
        return Server(f"http://127.0.0.1:{started[-1].server_port}/prefix", wait=lambda seconds: None), seen

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def matrix(form: Form, **extra: Any) -> tuple[int, dict[str, str], bytes]:
    """One point at each step that was asked for, of the value of its time."""
    start, end, step = (float(form[key][0]) for key in ("start", "end", "step"))
    values = [[start + k * step, str(start + k * step)] for k in range(round((end - start) / step) + 1)]
    data = {"resultType": "matrix", "result": [{"metric": {"a": "b"}, "values": values}]}
    return 200, {}, json.dumps({"status": "success", "data": data, **extra}).encode()


def test_a_passing_fault_is_asked_again_and_a_lasting_one_said(answering: Any) -> None:
    replies = [503, 429, 200]

    def reply(path: str, form: Form) -> tuple[int, dict[str, str], bytes]:
        code = replies.pop(0) if len(replies) > 1 else replies[0]
        return matrix(form) if code == 200 else (code, {"Retry-After": "7"}, b"later")

    waits: list[float] = []
    server, _ = answering(reply)
    server.wait = waits.append
    assert server.over("q", 0, 60, 60) == [({"a": "b"}, [(0.0, 0.0), (60.0, 60.0)])]
    assert waits == [7.0, 7.0]
    replies[:] = [502]
    with pytest.raises(ServerError, match=r"HTTP 502: later \(4 attempts\). Nothing was kept"):
        server.over("q", 0, 60, 60)


def test_too_large_a_range_is_asked_in_parts_and_put_together(answering: Any) -> None:
    asked: list[int] = []

    def reply(path: str, form: Form) -> tuple[int, dict[str, str], bytes]:
        steps = round((float(form["end"][0]) - float(form["start"][0])) / float(form["step"][0])) + 1
        asked.append(steps)
        refusal = {"status": "error", "error": "query processing would load too many samples into memory"}
        return matrix(form) if steps <= 4 else (422, {}, json.dumps(refusal).encode())

    server, _ = answering(reply)
    ((_, points),) = server.over("q", 0, 900, 60)
    assert points == [(60.0 * k, 60.0 * k) for k in range(16)]
    assert max(asked) == 16
    with pytest.raises(ServerError, match="even for one moment"):
        answering(lambda path, form: (422, {}, b'{"error": "exceeds the limit"}'))[0].over("q", 0, 900, 60)


def test_a_long_range_is_paged_before_the_server_refuses_it(answering: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_server, "MAX_POINTS", 10)
    server, seen = answering(lambda path, form: matrix(form))
    ((_, points),) = server.over("q", 0, 2900, 100)
    assert [at for at, _ in points] == [100.0 * k for k in range(30)]
    assert len(seen) == 4


def test_an_answer_beyond_our_own_limit_is_not_read_whole(answering: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_server, "MAX_ANSWER_BYTES", 300)
    server, _ = answering(lambda path, form: matrix(form))
    ((_, points),) = server.over("q", 0, 1500, 100)
    assert len(points) == 16


def test_partial_answers_and_warnings_are_kept_and_counted(answering: Any) -> None:
    server, _ = answering(lambda path, form: matrix(form, warnings=["store a is out"], isPartial=True))
    for _ in range(2):
        server.over("q", 0, 60, 60)
    assert server.warnings == {"store a is out": 2, "the answer is partial: a storage node did not answer": 2}


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {}, b"no"), "Set ANALYSIS_PROMETHEUS_TOKEN"),
        ((302, {"Location": "http://elsewhere/"}, b""), "redirects to http://elsewhere/"),
        ((404, {}, b"<html> 404 </html>"), "HTTP 404"),
        ((200, {}, b"<html>hello</html>"), "no JSON"),
        ((200, {}, b'{"status": "error", "error": "bad"}'), "without success: bad"),
        ((200, {}, b'{"status": "success", "data": {"result": [{"metric": 5, "value": [1, "x"]}]}}'), "not the shape"),
        ((200, {}, b'{"status": "success", "data": [1]}'), "not the shape"),
        ((200, {}, b"[" * 100_000), "no JSON"),
    ],
)
def test_what_is_no_answer_is_one_sentence(reply: Any, sentence: str, answering: Any) -> None:
    server, _ = answering(lambda path, form: reply)
    with pytest.raises(ServerError) as error:
        server.at("q", 0)
    assert sentence in str(error.value)


def test_nobody_there_is_one_sentence() -> None:
    with pytest.raises(ServerError, match="no answer"):
        Server("http://127.0.0.1:9", wait=lambda seconds: None).at("q", 0)


def test_secrets_come_from_the_environment_or_netrc(
    answering: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, seen = answering(lambda path, form: matrix(form))
    monkeypatch.setenv("ANALYSIS_PROMETHEUS_TOKEN", "t0ken")
    monkeypatch.setenv("ANALYSIS_PROMETHEUS_TENANT", "team-a")
    server.over("q", 0, 60, 60)
    monkeypatch.delenv("ANALYSIS_PROMETHEUS_TOKEN")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password pw\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.over("q", 0, 60, 60)
    assert [headers["Authorization"] for headers in seen] == ["Bearer t0ken", "Basic bWU6cHc="]
    assert {name.lower(): value for name, value in seen[0].items()}["x-scope-orgid"] == "team-a"


def test_an_address_is_read_in_parts() -> None:
    address = parse_address(f"{GOOD}&window=5m&by=model_name,region&replica=pod&lookback=10m")
    assert (address.base, address.match) == ("http://h:9090/", 'job="vllm"')
    assert (address.start, address.end, address.window, address.lookback) == (1795957200, 1795960800, 300, 600)
    assert (address.by, address.replica, address.moves) == (("model_name", "region"), ("pod",), False)
    assert parse_address(address.canonical) == address
    relative = parse_address(
        GOOD.replace("2026-11-29T13:00:00Z", "now-1h").replace("2026-11-29T14:00:00Z", "now"), now=7200.0
    )
    assert (relative.start, relative.end, relative.moves) == (3600, 7200, True)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        (GOOD.replace("h:9090", "me:secret@h:9090"), "holds a user or a password"),
        (GOOD.replace("match=", "nomatch="), "nomatch="),
        (GOOD.partition("&end")[0], "lacks end="),
        (GOOD.replace("14:00", "12:00"), "start= is not before end="),
        (GOOD.replace("job%3D%22vllm%22", "up%7Bjob%3D%22a%22%7D"), "give label matchers"),
        (GOOD.replace("job%3D%22vllm%22", "a%3D%22b%22%7D)%20or%20vector(1"), "give label matchers"),
        (f"{GOOD}&window=5", "give a duration"),
        (f"{GOOD}&by=a-b", "is not the name of a label"),
        (f"{GOOD}&by=a&by=b", "more than once"),
        (GOOD.replace("13:00:00Z", "13:00:00"), "with its zone"),
        ("prometheus+ftp://h/?a=b", "begin with prometheus+http://"),
        ("prometheus+http://h:99999/?match=a", "not an address"),
    ],
)
def test_an_address_that_is_wrong_is_one_sentence_without_a_secret(address: str, sentence: str) -> None:
    with pytest.raises(ServerError) as error:
        parse_address(address)
    assert sentence in str(error.value)
    assert "secret" not in str(error.value)
