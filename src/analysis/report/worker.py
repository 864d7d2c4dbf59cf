"""Runs notebooks: imports all they need once, then forks a worker, and its kernel, for each.

python -m analysis.report.worker reads one job a line from standard input, and answers a line when it has ended:
{"job": folder, "status": exit status}. It ends, with all it has started, when its input does.
"""

import gc
import json
import os
import pkgutil
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from analysis.report import drawing, names

SAID, LOG, PAGE = "said", "log", "page.json"
_POLL_S = 0.01
_PRELOADED = (
    "papermill", "ipykernel.kernelapp", "ipykernel.ipkernel", "analysis.study", "analysis.charts", "scipy.stats",
    "pandas", "pyarrow",
)  # fmt: skip


def serve() -> None:
    """Take jobs until standard input ends."""
    socket = Path(os.environ.pop(drawing.SOCKET))
    drawing.serve(str(socket))
    preload()
    jobs: dict[int, str] = {}
    for line in _lines(socket.parent):
        if line:
            job = json.loads(line)
            jobs[_fork(job)] = job["job"]
        while jobs:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid in jobs:  # else one that draws has ended: notebooks draw by themselves then
                answer = {"job": jobs.pop(pid), "status": os.waitstatus_to_exitcode(status)}
                print(json.dumps(answer), flush=True)


def preload() -> None:
    """Import what notebooks use, and convert one. Nothing else may run here: threads do not survive a fork."""
    from analysis import estimates, findings
    from analysis.report.convert import warm_up

    names = [*_PRELOADED]
    for room in (estimates, findings):
        names += [f"{room.__name__}.{module.name}" for module in pkgutil.iter_modules(room.__path__)]
    for name in names:
        try:
            import_module(name)
        except Exception:  # the notebook that needs it will say so
            continue
    warm_up()
    gc.collect()
    gc.freeze()


def execute(source: Path, executed: Path, data: str, out: str) -> str | None:
    """Run a notebook with the parameters data and out; None, or the sentence that says what failed."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    os.environ[names.PAGE] = source.stem
    try:
        papermill.execute_notebook(
            source, executed, {"data": data, "out": out}, kernel_name="python3", progress_bar=False, log_output=False,
            request_save_on_cell_execute=False,
        )  # fmt: skip
    except PapermillExecutionError as error:
        place = f"cell {error.cell_index}"  # papermill counts from 0 and has put one cell of its own before
        line = next((line.strip() for line in error.source.splitlines() if line.strip()), "")
        return f"{source.name}, {place} ({line[:80]}): {_last_line(error.ename, error.evalue)}"
    except Exception as error:
        return f"{source.name}: {_last_line(type(error).__name__, str(error))}"
    return None


def _lines(place: Path) -> Iterator[bytes]:
    """The lines of standard input, and an empty one every few milliseconds; `place` goes when the input ends."""
    rest = b""
    while True:
        ready, _, _ = select.select([0], [], [], _POLL_S)
        if not ready:
            yield b""
            continue
        data = os.read(0, 1 << 16)
        if not data:
            shutil.rmtree(place, ignore_errors=True)
            os.killpg(0, signal.SIGKILL) if os.getpgid(0) == os.getpid() else os._exit(0)
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


def _fork(job: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = _work(job)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _work(job: dict[str, Any]) -> int:
    """One notebook, in a process of its own: run it and leave its page; what fails is said in a file."""
    from analysis.report.forked import WaitingKernel, use_forked_kernels

    folder, source = Path(job["job"]), Path(job["source"])
    with (folder / LOG).open("wb") as log, Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ |= job["environment"]
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    tempfile.tempdir = str(folder)  # kernels' connection files have a key in them: they go with the folder
    WaitingKernel.current = WaitingKernel()
    use_forked_kernels()
    executed = folder / source.name
    said = execute(source, executed, job["data"], job["out"])
    if said is None:
        from analysis.report.convert import convert

        (folder / PAGE).write_text(json.dumps(asdict(convert(executed))), encoding="utf-8")
        return 0
    (folder / SAID).write_text(said, encoding="utf-8")
    return 1


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _last_line(name: str, message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return f"{name}: {lines[-1][:400]}" if lines else name


if __name__ == "__main__":
    serve()
