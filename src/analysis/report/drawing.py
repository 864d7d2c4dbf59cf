"""Draws charts: here, or in processes that keep the engine of the drawings warm for all notebooks of a report.

To start that engine takes as long as to draw two or three figures. `serve` forks the processes, `svg` and `png` ask
them where the environment names their socket, and draw by themselves where there is none or no answer comes.
"""

import json
import os
import socket
from contextlib import suppress
from typing import Any

import vl_convert

VEGA_LITE = "6.4"
SOCKET = "ANALYSIS_DRAWING"
"""Environment variable with the path of the socket of the processes that draw."""
_PPI = 144
_CORES_EACH = 2
"""Drawing is a fifth to a third of what a report takes: one process for so many cores."""
_POLL_S, _PATIENCE_S = 0.5, 30.0
_SIZE = 8
"""Bytes before an answer that say how long it is: one that was cut short is none."""
_WARM: dict[str, Any] = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}}


def svg(spec: dict[str, Any]) -> str:
    """The SVG of a Vega-Lite specification. Raises ValueError for one that cannot be drawn."""
    return _asked({"svg": spec}).decode()


def png(drawn: str) -> bytes:
    """An SVG as PNG, at 144 pixels per inch."""
    return _asked({"png": drawn})


def serve(path: str) -> None:
    """Fork processes that draw for whoever connects to the socket `path`, which nobody else may reach.

    They end with this one. Where there can be no such socket (its path is too long) notebooks draw by themselves.
    """
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind(path)
        except OSError:
            return
        listening.listen()
        parent = os.getpid()
        for _ in range(max(1, (os.cpu_count() or 1) // _CORES_EACH)):
            if os.fork() == 0:
                try:
                    _draw_for_all(listening, parent)
                finally:
                    os._exit(0)  # whatever happens, what follows is the other process's
        os.environ[SOCKET] = path


def _asked(what: dict[str, Any]) -> bytes:
    answer = b""
    if path := os.environ.get(SOCKET):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(_PATIENCE_S)
            asking.connect(path)
            asking.sendall(json.dumps(what).encode())
            asking.shutdown(socket.SHUT_WR)
            answer = _all(asking)
    size, answer = int.from_bytes(answer[:_SIZE]), answer[_SIZE:]
    return answer if answer and len(answer) == size else _drawn(what)


def _drawn(what: dict[str, Any]) -> bytes:
    if "png" in what:
        return bytes(vl_convert.svg_to_png(what["png"], ppi=_PPI))
    return str(vl_convert.vegalite_to_svg(what["svg"], vl_version=VEGA_LITE)).encode()


def _draw_for_all(listening: socket.socket, parent: int) -> None:
    """Until the parent has ended."""
    _drawn({"png": _drawn({"svg": _WARM}).decode()})
    listening.settimeout(_POLL_S)
    while os.getppid() == parent:
        with suppress(OSError):
            asking, _ = listening.accept()
            with asking:
                asking.settimeout(_PATIENCE_S)
                _answer(asking)


def _answer(asking: socket.socket) -> None:
    with suppress(ValueError):  # whoever asked draws it, and gets the message
        drawn = _drawn(json.loads(_all(asking)))
        asking.sendall(len(drawn).to_bytes(_SIZE) + drawn)


def _all(sent: socket.socket) -> bytes:
    with sent.makefile("rb") as stream:
        return stream.read()
