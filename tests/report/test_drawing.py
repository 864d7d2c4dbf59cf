"""Charts drawn by processes that stay warm: the same bytes as drawn here, and never a figure less."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from analysis.report import drawing
from analysis.report.figure import to_svg
from analysis.report.workers import Workers

BARS = {
    "data": {"values": [{"a": 1}, {"a": 3}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}
CLIPPED = {**BARS, "mark": {"type": "bar", "clip": True}}
SERVER = """
import sys, time
from analysis.report import drawing
drawing.serve(sys.argv[1])
print("serving", flush=True)
time.sleep(60)
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    path = tmp_path / "s"
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(path)], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout and process.stdout.readline() == b"serving\n"
    monkeypatch.setenv(drawing.SOCKET, str(path))
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _drawers(server: subprocess.Popen[bytes]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def test_a_server_draws_what_would_be_drawn_here(
    server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(what: dict[str, object]) -> bytes:
        raise AssertionError("drawn here")

    local = drawing._drawn({"svg": BARS})
    picture = drawing._drawn({"png": local.decode()})
    monkeypatch.setattr(drawing, "_drawn", here)
    assert drawing.svg(BARS) == local.decode()
    assert drawing.png(local.decode()) == picture
    assert picture.startswith(b"\x89PNG")


def test_ids_do_not_depend_on_what_was_drawn_before() -> None:
    first, _, again = (to_svg(spec, "x") for spec in (CLIPPED, BARS, CLIPPED))
    assert 'id="x-0"' in first
    assert "url(#x-0)" in first
    assert again == first


def test_what_cannot_be_drawn_says_so_where_it_was_asked_for(server: subprocess.Popen[bytes]) -> None:
    with pytest.raises(ValueError, match="conversion failed"):
        drawing.svg({"data": {"values": []}, "mark": 7})
    assert drawing.svg(BARS).startswith("<svg")


def test_without_those_that_draw_a_figure_is_drawn_here(server: subprocess.Popen[bytes]) -> None:
    for pid in _drawers(server):
        os.kill(pid, signal.SIGKILL)
    assert drawing.svg(BARS).startswith("<svg")


@pytest.mark.parametrize("sent", [b"", (100).to_bytes(8) + b"<svg>", b"<svg>"])
def test_a_cut_answer_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        monkeypatch.setenv(drawing.SOCKET, str(tmp_path / "s"))

        def answer() -> None:
            asking, _ = listening.accept()
            with asking, asking.makefile("rb") as asked:
                asked.read()
                asking.sendall(sent)

        thread = threading.Thread(target=answer)
        thread.start()
        drawn = drawing.svg(BARS)
        thread.join()
    assert drawn == drawing._drawn({"svg": BARS}).decode()


def test_who_does_not_answer_is_waited_for_so_long(
    server: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "_PATIENCE_S", 0.2)
    for pid in _drawers(server):
        os.kill(pid, signal.SIGSTOP)
    assert drawing.svg(BARS).startswith("<svg")


def test_a_path_too_long_for_a_socket_means_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(drawing.SOCKET, raising=False)
    drawing.serve(str(tmp_path / ("long" * 40)))
    assert drawing.SOCKET not in os.environ
    assert drawing.svg(BARS).startswith("<svg")


def test_those_that_draw_end_with_the_process_that_started_them(server: subprocess.Popen[bytes]) -> None:
    pids = _drawers(server)
    assert len(pids) == max(1, (os.cpu_count() or 1) // 2)
    server.kill()
    server.wait()
    for _ in range(100):
        if not any(_runs(pid) for pid in pids):
            return
        time.sleep(0.1)
    raise AssertionError("they draw on")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_pool_leaves_no_socket() -> None:
    with Workers() as workers:
        place = Path(workers._place.name)
        assert place.stat().st_mode & 0o777 == 0o700
    assert not place.exists()
