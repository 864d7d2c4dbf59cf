"""The processes that run notebooks, from outside: started once, given notebooks, ended whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from analysis.report.drawing import SOCKET
from analysis.report.errors import ReportError
from analysis.report.kept import OUT
from analysis.report.worker import LOG, SAID

_GRACE_S = 5.0


class Workers:
    """A pool of as many notebooks at a time as there are cores.

    It may be made long before it is used: it imports what notebooks need meanwhile. Used as a context, it ends with it.
    """

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="drawing-")  # of a socket that only we can reach
        # The same hash seed: a report depends on its inputs only.
        env = {**os.environ, "PYTHONHASHSEED": "0", SOCKET: f"{self._place.name}/socket"}
        self.environment: dict[str, str] = {}
        """Environment variables of the notebooks."""
        self._stopped = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by stop()
        # In a session of its own: Ctrl-C reaches us alone, and we stop workers and kernels in order.
        self._server = subprocess.Popen(
            [sys.executable, "-m", "analysis.report.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env=env, start_new_session=True,
        )  # fmt: skip

    def run(self, notebooks: Sequence[Path], work: Path, data: Path) -> Iterator[tuple[Path, Path]]:
        """Run notebooks, at most one a core at a time; each with the folder of what it made, as it ends.

        Raises ReportError for the first that fails.
        """
        waiting = list(notebooks)
        running: dict[str, Path] = {}
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                notebook = waiting.pop(0)
                folder = work / notebook.stem
                (folder / OUT).mkdir(parents=True)
                running[str(folder)] = notebook
                self._send(notebook, folder, data, work)
            answer = self._answer()
            notebook = running.pop(answer["job"])
            _check(notebook, answer["status"], Path(answer["job"]))
            yield notebook, Path(answer["job"])

    def _send(self, notebook: Path, folder: Path, data: Path, work: Path) -> None:
        # No start-up files or history of the user.
        environment = self.environment | {"IPYTHONDIR": str(work / "ipython")}
        job = {
            "job": str(folder), "source": str(notebook), "data": str(data), "out": str(folder / OUT),
            "environment": environment,
        }  # fmt: skip
        assert self._server.stdin
        try:
            self._server.stdin.write(json.dumps(job).encode() + b"\n")
            self._server.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _answer(self) -> dict[str, Any]:
        assert self._server.stdout
        line = self._server.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> ReportError:
        status = self._server.wait()
        self._errors.seek(0)
        last = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        why = last[-1] if last else f"status {status}"
        return ReportError(f"{_NOT_MADE} The process that runs notebooks has ended ({why}); run it again.")

    def stop(self) -> None:
        """Ask all that runs to end, and end what does not; safe to call twice."""
        if self._stopped:
            return
        self._stopped = True
        for number, patience in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, None)):
            with suppress(ProcessLookupError):
                os.killpg(self._server.pid, number)
            try:
                self._server.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        for stream in (self._server.stdin, self._server.stdout, self._errors):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        self._place.cleanup()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


_A_MESSAGE = 1 << 16
"""Bytes without which a notebook could not say why it failed."""
_NOT_MADE = "the report was not made, the previous one is as it was."


def _check(notebook: Path, status: int, folder: Path) -> None:
    if status == 0:
        return
    said = folder / SAID
    if said.exists() and (why := said.read_text(encoding="utf-8")):
        raise ReportError(f"{_NOT_MADE} {why}")
    log = folder / LOG
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() if log.exists() else []
    full = "the disk is full" if shutil.disk_usage(folder).free < _A_MESSAGE else "no message"
    why = lines[-1] if lines else full
    raise ReportError(f"{_NOT_MADE} {notebook.name} ended with status {status}: {why}")
