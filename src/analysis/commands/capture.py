"""Scrape live servers into a study directory; Ctrl-C ends it cleanly."""

import argparse
import re
import signal
import sys
import threading
from pathlib import Path

from analysis.capture.folder import CaptureError
from analysis.capture.pages import Tally, capture
from analysis.paths import place

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """Seconds of a duration as 15s, 5m, 1h. Raises CaptureError."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)", text.strip())
    if not match:
        raise CaptureError(f"{text[:40]!r} is not a duration: give 15s, 5m or 1h")
    return float(match[1]) * _UNITS[match[2]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """URLs, DATA, --every and --for."""
    parser.add_argument("data", type=Path, help="the study directory to write into")
    parser.add_argument("urls", nargs="+", help="addresses of servers, as http://127.0.0.1:8000 (/metrics is added)")
    parser.add_argument("--every", default="15s", help="time between pages (default: 15s)")
    parser.add_argument("--for", dest="duration", help="how long (default: until Ctrl-C)")


def run(options: argparse.Namespace) -> int:
    """Capture until the time is over or a signal comes; 1 when a target gave no page at all."""
    if not str(options.data).strip() or str(options.data) == ".":
        raise CaptureError("DATA names the study directory to write into, as DATA=my-cluster/")
    options.data = place(options.data)
    urls = [url for text in options.urls for url in text.split()]
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        duration = seconds(options.duration) if options.duration else None
        tallies = capture(urls, options.data, seconds(options.every), duration, stop, say)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for tally in tallies:
        say(_sentence(tally))
    print(options.data)
    return 0 if all(tally.pages for tally in tallies) else 1


def say(text: str) -> None:
    """Tell whoever watches."""
    print(text, file=sys.stderr, flush=True)


def _sentence(tally: Tally) -> str:
    wrong = f", {tally.failures:,} times none (errors.txt)" if tally.failures else ""
    restarts = f", {tally.restarts} restarts seen" if tally.restarts else ""
    return f"{tally.target.url}: {tally.pages:,} pages{wrong}{restarts}"
