"""Run boots of an engine into a study directory: capture-boot DATA -- vllm serve ...; each is stopped when ready."""

import argparse
import shlex
import signal
import threading
from pathlib import Path

from analysis.capture.boots import capture_boots
from analysis.capture.folder import CaptureError
from analysis.commands.capture import say, seconds
from analysis.paths import place


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA, the options of the capture, and the engine's command after --."""
    parser.add_argument("data", type=Path, help="the study directory to write into")
    parser.add_argument("--repeat", type=int, default=1, help="how many boots, one after the other (default: 1)")
    parser.add_argument("--name", default="boot", help="logs are called boots/NAME-1.log and so on (default: boot)")
    parser.add_argument("--arm", help="the arm that the boots belong to")
    parser.add_argument("--timeout", default="30m", help="stop a boot that is not ready by then (default: 30m)")
    parser.add_argument("--after", default="0s", help="how long a boot stays up once it is ready (default: 0s)")
    parser.add_argument("--cmd", help="the engine's command as one text, in place of what follows --")


def run(options: argparse.Namespace) -> int:
    """Run the boots; 130 when the user ended them early."""
    if not str(options.data).strip() or str(options.data) == ".":
        raise CaptureError("DATA names the study directory to write into, as DATA=my-cluster/")
    options.data = place(options.data)
    words = options.after_dashes
    try:
        command = shlex.split(options.cmd) if options.cmd else words
    except ValueError as fault:
        raise CaptureError(f"CMD cannot be split into words ({fault})") from None
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        capture_boots(
            command, options.data, name=options.name, arm=options.arm, repeat=options.repeat,
            timeout_s=seconds(options.timeout), after_s=seconds(options.after), stop=stop, say=say,
        )  # fmt: skip
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    print(options.data)
    return 130 if stop.is_set() else 0
