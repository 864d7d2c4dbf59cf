"""Boots of an engine: started, their output kept with times, stopped when ready, and nothing of them left running."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from analysis.capture.folder import CaptureError, Folder
from analysis.redact import redact
from analysis.sources.boot_match import match

MAX_LOG_BYTES = 1 << 30
"""What a boot prints beyond this is read and left."""
GRACE_S = 30.0
"""How long an engine may take to end by itself before it is killed."""
_LINE = 1 << 20
_POLL_S = 0.05


@dataclass(slots=True)
class Boot:
    """One boot: times in unix seconds (ready_s: seconds from the start), the exit status in words, and why it ended."""

    id: str
    started: datetime
    ready: datetime | None = None
    stopped: datetime | None = None
    exit_status: str = ""
    note: str = ""


def capture_boots(
    command: Sequence[str], folder: Path, *, name: str, arm: str | None, repeat: int, timeout_s: float, after_s: float,
    stop: threading.Event, say: Callable[[str], None] = lambda text: None, grace_s: float = GRACE_S,
) -> list[Boot]:  # fmt: skip
    """Run `command` `repeat` times, one after the other: boots/<name>-<k>.log and a line each in boots.jsonl.

    A boot that is ready is stopped `after_s` seconds later; one that is not within `timeout_s` is stopped and said so.
    Raises CaptureError when the command cannot be started. `stop` ends the running boot and begins no other.
    """
    if not command:
        raise CaptureError('CMD is the command that starts the engine, as CMD="vllm serve ..."')
    if repeat < 1 or timeout_s <= 0 or after_s < 0 or not name or "/" in name or name.startswith("."):
        raise CaptureError("REPEAT is at least 1, TIMEOUT positive, and NAME a plain word")
    into = Folder(folder)
    into.begin({"command": redact(" ".join(command)).text})
    boots = []
    for _ in range(repeat):
        if stop.is_set():
            break
        boots.append(_boot(command, into, name, arm, timeout_s, after_s, stop, say, grace_s))
    return boots


def _boot(
    command: Sequence[str], into: Folder, name: str, arm: str | None, timeout_s: float, after_s: float,
    stop: threading.Event, say: Callable[[str], None], grace_s: float,
) -> Boot:  # fmt: skip
    id, log = _new_log(into.path / "boots", name)
    with log:
        boot = Boot(id, datetime.now(UTC))
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CaptureError(f"{command[0]}: cannot be started ({error.strerror})") from None
        say(f"{id}: started")
        reader = _Reader(process.stdout, log)  # type: ignore[arg-type]
        reader.start()
        try:
            _wait(process, reader, boot, timeout_s, after_s, stop)
        finally:
            asked = process.poll() is None
            end(process, grace_s)
            reader.join(grace_s)
            boot.stopped = datetime.now(UTC)
            boot.exit_status = _status(process.returncode, asked)
    boot.ready = reader.ready
    _declare(into, boot, command, arm)
    took = f"ready after {(boot.ready - boot.started).total_seconds():.1f} s" if boot.ready else "never ready"
    say(f"{id}: {took}, {boot.exit_status}{f' ({boot.note})' if boot.note else ''}")
    return boot


def _new_log(folder: Path, name: str) -> tuple[str, BinaryIO]:
    """The first free <name>-<k>.log, made."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, 100_000):
        try:
            return f"{name}-{number}", (folder / f"{name}-{number}.log").open("xb", buffering=0)
        except FileExistsError:
            continue
    raise CaptureError(f"{folder}: all names {name}-<number>.log are taken")


class _Reader(threading.Thread):
    """Copies what a boot prints into its log, each line with its time, and looks for the line that says it is ready."""

    def __init__(self, output: BinaryIO, log: BinaryIO) -> None:
        super().__init__(daemon=True)
        self.output, self.log = output, log
        self.ready: datetime | None = None
        self.size = 0

    def run(self) -> None:
        """Until the last writer of the pipe has closed it; a full disk ends the log, not the boot."""
        whole = True
        while line := self.output.readline(_LINE):
            now = datetime.now(UTC)
            text = line.decode(errors="replace")
            if self.ready is None and any(hit.shape.purpose == "ready" for hit in match(1, text)[0]):
                self.ready = now
            stamped = f"{now:%Y-%m-%dT%H:%M:%S.%f}000Z ".encode() + line if whole else line
            whole = line.endswith(b"\n")
            if self.size < MAX_LOG_BYTES:
                self.size += len(stamped)
                try:
                    self.log.write(stamped)
                except OSError:
                    self.size = MAX_LOG_BYTES
        self.output.close()


def _wait(
    process: subprocess.Popen[bytes], reader: _Reader, boot: Boot, timeout_s: float, after_s: float,
    stop: threading.Event,
) -> None:  # fmt: skip
    """Until the boot ended by itself, was ready for `after_s`, is over its time, or the capture is to stop."""
    until = time.monotonic() + timeout_s
    ready_at: float | None = None
    while process.poll() is None:
        now = time.monotonic()
        if ready_at is None and reader.ready is not None:
            ready_at = now
        if ready_at is not None and now >= ready_at + after_s:
            boot.note = "stopped when ready"
            return
        if ready_at is None and now > until:
            boot.note = f"stopped: not ready within {timeout_s:g} s"
            return
        if stop.wait(_POLL_S):
            boot.note = "stopped by the user"
            return
    boot.note = "ended by itself"


def end(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End a process, its group and what it started outside of it: first asked, then killed."""
    family = _descendants(process.pid)
    _signal_group(process.pid, signal.SIGTERM)
    until = time.monotonic() + grace_s
    while time.monotonic() < until and (process.poll() is None or _group_lives(process.pid)):
        family |= _descendants(process.pid)
        time.sleep(_POLL_S)
    _signal_group(process.pid, signal.SIGKILL)
    for pid, born in family.items():
        if _born(pid) == born:  # the same process still, not another one under its number
            _signal(pid, signal.SIGKILL)
    process.wait()


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return any(_group_of(pid) == group for pid in _pids()) if Path("/proc/self/stat").exists() else True


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on; empty where there is none, or for a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[:1] == ["Z"] else fields


def _born(pid: int) -> str | None:
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else None


def _group_of(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[2]) if fields else None


def _pids() -> list[int]:
    return (
        [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()] if Path("/proc").is_dir() else []
    )


def _descendants(root: int) -> dict[int, str]:
    """Processes that `root` started, also through others, with the time of their birth; empty where /proc is not."""
    parents = {pid: int(fields[1]) for pid in _pids() if (fields := _stat(pid))}
    found: set[int] = {root}
    while new := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= new
    return {pid: born for pid in found - {root} if (born := _born(pid)) is not None}


def _status(code: int, asked: bool) -> str:
    words = f"exit status {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"
    return f"{words}, asked to stop" if asked else words


def _declare(into: Folder, boot: Boot, command: Sequence[str], arm: str | None) -> None:
    """Append the boot to boots.jsonl, in the form that study.toml's [[boots]] have; secrets in its command redacted."""
    row: dict[str, Any] = {
        "id": boot.id, "arm": arm, "args": redact(" ".join(command)).text,
        "start": boot.started.isoformat(), "ready": boot.ready.isoformat() if boot.ready else None,
        "stop": boot.stopped.isoformat() if boot.stopped else None, "exit_status": boot.exit_status, "loaded": False,
        "note": boot.note,
    }  # fmt: skip
    with (into.path / "boots.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
