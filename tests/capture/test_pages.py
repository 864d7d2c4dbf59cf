"""Recorded pages served by a server that misbehaves on purpose, and what a capture makes of it."""

import gzip
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.capture import scrape as scraping
from analysis.capture.folder import CaptureError
from analysis.capture.pages import Tally, capture
from analysis.capture.scrape import NoPageError, Target, scrape
from analysis.store.load import load
from analysis.study import Study

RECORDED = [gzip.decompress(f.read_bytes()) for f in sorted((paths.DATA / "vllm-cpu/metrics/A2").iterdir())]
OTHER_PROCESS = gzip.decompress(sorted((paths.DATA / "vllm-cpu/metrics/B1").iterdir())[0].read_bytes())
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def page(data: bytes, kind: str = "text/plain; version=0.0.4; charset=utf-8") -> Answer:
    """An answer with a whole body."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def broken(handler: http.server.BaseHTTPRequestHandler) -> None:
    """Promises more than comes."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.send_header("Content-Length", str(len(RECORDED[0])))
    handler.end_headers()
    handler.wfile.write(RECORDED[0][:1000])


def dripping(handler: http.server.BaseHTTPRequestHandler) -> None:
    """A byte at a time, each soon enough for a time-out that counts from the last byte."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    for byte in RECORDED[0][:400]:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.05)


def endless(handler: http.server.BaseHTTPRequestHandler) -> None:
    """More than any page has."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"vllm:a_total 1\n" * 1000)


def refusal(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_error(503)


def silent(handler: http.server.BaseHTTPRequestHandler) -> None:
    time.sleep(1.5)


def redirect(handler: http.server.BaseHTTPRequestHandler) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:9/elsewhere")
    handler.end_headers()


class Serving:
    """A server that gives its answers in order, the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.headers = list(answers), list[dict[str, str]]()
        serving = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                serving.headers.append(dict(self.headers))
                answer = serving.answers.pop(0) if len(serving.answers) > 1 else serving.answers[0]
                try:
                    answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[..., Serving]]:
    """Start servers that end with the test."""
    started: list[Serving] = []

    def start(*answers: Answer) -> Serving:
        started.append(Serving(*answers))
        return started[-1]

    yield start
    for one in started:
        one.server.shutdown()
        one.server.server_close()


def _capture(folder: Path, *urls: str, until: Callable[[], bool] = lambda: True, every_s: float = 0.1) -> list[Tally]:
    """Capture until something is so (a machine under load is slow), at most for a minute."""
    stop, tallies = threading.Event(), list[Tally]()
    thread = threading.Thread(target=lambda: tallies.extend(capture(urls, folder, every_s, None, stop)))
    thread.start()
    end = time.monotonic() + 60
    while time.monotonic() < end and not (until() and _pages(folder)):
        time.sleep(0.02)
    stop.set()
    thread.join()
    return tallies


def _pages(folder: Path) -> int:
    return len(list(folder.glob("metrics/*/[0-9]*.prom")))


def test_pages_are_kept_byte_for_byte_and_are_a_study(serve: Callable[..., Serving], tmp_path: Path) -> None:
    serving = serve(*map(page, RECORDED[:8]))
    (tally,) = _capture(tmp_path / "live", serving.url, until=lambda: _pages(tmp_path / "live") >= 8)
    files = sorted((tmp_path / "live" / "metrics" / tally.target.name).iterdir())
    assert len(files) == tally.pages >= 8
    assert [file.read_bytes() for file in files[:8]] == RECORDED[:8]
    assert not (tmp_path / "live" / "errors.txt").exists()
    study = Study(tmp_path / "live")
    pages, resets = study.sql("select count(*), sum(resets)::int from page_order").row(0)
    assert (pages, resets) == (len(files), 0)
    assert study.sql("select status from files where file = 'study.toml'").item() == "read"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (page(b"<html>login</html>", "text/html"), "it is text/html, not a metric page"),
        (page(b"upstream is down\n"), "its content is no metric page"),
        (page(b""), "an empty page"),
        (page(b'{"detail":"Not Found"}', "application/json"), "its content is no metric page"),
        (broken, "broke off"),
        (refusal, "HTTP 503"),
        (redirect, "it redirects (HTTP 302)"),
        (silent, "no whole page within 0.4 s"),
        (dripping, "no whole page within 0.4 s"),
    ],
    ids=["html", "text", "empty", "json", "broken", "503", "redirect", "silent", "dripping"],
)
def test_what_is_no_whole_page_is_refused_with_a_sentence_and_in_time(
    answer: Answer, sentence: str, serve: Callable[..., Serving]
) -> None:
    begun = time.monotonic()
    with pytest.raises(NoPageError) as error:
        scrape(Target.of(serve(answer).url), 0.4)
    assert sentence in str(error.value)
    assert time.monotonic() - begun < 10


def test_an_endless_page_is_cut_off(serve: Callable[..., Serving], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraping, "MAX_PAGE_BYTES", 1 << 20)
    with pytest.raises(NoPageError, match="more than 1 MiB"):
        scrape(Target.of(serve(endless).url), 5)


def test_faults_between_pages_cost_these_ticks_only_and_the_same_fault_is_said_once(
    serve: Callable[..., Serving], tmp_path: Path
) -> None:
    serving = serve(page(RECORDED[0]), refusal, refusal, refusal, page(RECORDED[1]))
    (tally,) = _capture(tmp_path, serving.url, until=lambda: _pages(tmp_path) >= 3)
    assert tally.failures == 3
    assert tally.pages >= 3
    lines = [line.split(": ", 1)[1] for line in (tmp_path / "errors.txt").read_text().splitlines()]
    assert lines == ["HTTP 503 (Service Unavailable)", "pages again, after 3 times without"]


def test_a_restart_is_marked_and_the_study_sees_it_too(serve: Callable[..., Serving], tmp_path: Path) -> None:
    # A process that began before the first page was taken would be another frontend, not a restart.
    begun = f"process_start_time_seconds {time.time() + 0.05!r}".encode()
    after = re.sub(rb"(?m)^process_start_time_seconds .*$", begun, OTHER_PROCESS)
    serving = serve(page(RECORDED[3]), refusal, page(re.sub(rb"(?m)^.*_created.*\n", b"", after)))
    (tally,) = _capture(tmp_path / "r", serving.url, until=lambda: _pages(tmp_path / "r") >= 3)
    assert tally.restarts == 1
    assert "restart: the process start changed" in (tmp_path / "r" / "errors.txt").read_text()
    assert Study(tmp_path / "r").sql("select sum(resets)::int from page_order").item() == 1


def test_without_a_process_start_a_count_that_falls_is_a_restart(serve: Callable[..., Serving], tmp_path: Path) -> None:
    pages = (
        b"# TYPE vllm:a counter\nvllm:a_total 5\nvllm:b_sum 9\n",
        b"# TYPE vllm:a counter\nvllm:a_total 4\nvllm:b_sum 9\n",
    )
    (tally,) = _capture(tmp_path, serve(*map(page, pages)).url, until=lambda: _pages(tmp_path) >= 3)
    assert tally.restarts == 1
    assert "1 counters fell, as vllm:a_total" in (tmp_path / "errors.txt").read_text()


def test_several_servers_at_once_one_of_them_gone(serve: Callable[..., Serving], tmp_path: Path) -> None:
    good = serve(page(RECORDED[0]))
    good_tally, gone = capture([good.url, "http://127.0.0.1:9"], tmp_path, 0.5, 2.0, threading.Event())
    assert 2 <= good_tally.pages <= 5
    assert gone.pages == 0
    assert 2 <= gone.failures <= 5
    text = (tmp_path / "errors.txt").read_text()
    assert text.count("no answer") == 1
    assert f"the same {gone.failures - 1} times more" in text


def test_nothing_is_overwritten(serve: Callable[..., Serving], tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("title = 'mine'\n")
    serving = serve(page(RECORDED[0]))
    for _ in range(2):
        before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
        kept = _pages(tmp_path)
        _capture(tmp_path, serving.url, until=lambda kept=kept: _pages(tmp_path) > kept)
        assert all(file.read_bytes() == data for file, data in before.items())
    assert (tmp_path / "study.toml").read_text() == "title = 'mine'\n"
    assert list(tmp_path.rglob(".*")) == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://me:secret@h/metrics", "holds a user, a password or a query"),
        ("http://h/metrics?token=secret", "holds a user, a password or a query"),
        ("ftp://h", "begins with http"),
        ("h:8000", "begins with http"),
        ("http://h:99999", "not an address"),
    ],
)
def test_an_address_with_a_secret_or_none_is_refused_without_repeating_it(
    url: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(CaptureError) as error:
        capture([url], tmp_path / "n", 1, 0, threading.Event())
    assert sentence in str(error.value)
    assert "secret@" not in str(error.value)
    assert "token=" not in str(error.value)
    assert not (tmp_path / "n").exists()


def test_a_token_of_the_environment_is_sent_and_never_stored(
    serve: Callable[..., Serving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANALYSIS_CAPTURE_TOKEN", "s3cr3t-token")
    serving = serve(page(RECORDED[0]))
    _capture(tmp_path, serving.url)
    assert serving.headers[0]["Authorization"] == "Bearer s3cr3t-token"
    assert not any(b"s3cr3t" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_the_command_ends_cleanly_on_a_signal(serve: Callable[..., Serving], tmp_path: Path) -> None:
    serving = serve(page(RECORDED[0]))
    command = [sys.executable, "-m", "analysis", "capture", str(tmp_path / "c"), serving.url, "--every", "200ms"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("c/metrics/*/*.prom"))) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.strip() == str(tmp_path / "c")
    assert " pages" in err
    assert list((tmp_path / "c").rglob(".*")) == []
    load(tmp_path / "c", tmp_path / "c.duckdb")
