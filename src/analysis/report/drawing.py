"""Draws charts: here, or in processes that keep the engine of the drawings warm for all notebooks of a report.

To start that engine takes longer than to draw all figures of a notebook. `serve` forks the processes, `svg` and `png`
ask them where the environment names their socket, and draw by themselves where there is none or it fails.
"""

import json
import os
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import vl_convert

VEGA_LITE = "6.4"
SOCKET = "ANALYSIS_DRAWING"
"""Environment variable with the path of the socket of the processes that draw."""
_PPI = 144
_CORES_EACH = 2
"""Drawing is about a third of what a report takes: one process for so many cores."""
_WARM: dict[str, Any] = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}}


def svg(spec: dict[str, Any]) -> str:
    """The SVG of a Vega-Lite specification."""
    return _asked({"svg": spec}).decode()


def png(drawn: str) -> bytes:
    """An SVG as PNG, at 144 pixels per inch."""
    return _asked({"png": drawn})


def serve(socket: str) -> Listener:
    """Fork processes that draw for whoever connects to `socket`, a path that nobody else can reach.

    Keep what is returned: the path goes with it.
    """
    listener = Listener(socket, "AF_UNIX")
    for _ in range(max(1, (os.cpu_count() or 1) // _CORES_EACH)):
        if os.fork() == 0:
            _draw_for_all(listener)
    os.environ[SOCKET] = socket
    return listener


def _asked(what: dict[str, Any]) -> bytes:
    if socket := os.environ.get(SOCKET):
        with suppress(OSError, EOFError), Client(socket, "AF_UNIX") as asking:
            asking.send_bytes(json.dumps(what).encode())
            return asking.recv_bytes()
    return _drawn(what)


def _drawn(what: dict[str, Any]) -> bytes:
    if "png" in what:
        return bytes(vl_convert.svg_to_png(what["png"], ppi=_PPI))
    return str(vl_convert.vegalite_to_svg(what["svg"], vl_version=VEGA_LITE)).encode()


def _draw_for_all(listener: Listener) -> None:
    """Never returns; it ends with the group of processes that it is of."""
    _drawn({"png": _drawn({"svg": _WARM}).decode()})
    while True:
        with suppress(OSError, EOFError), listener.accept() as asking:
            _answer(asking)


def _answer(asking: Connection) -> None:
    try:
        answer = _drawn(json.loads(asking.recv_bytes()))
    except ValueError:  # whoever asked draws it, and gets the message
        return
    asking.send_bytes(answer)
