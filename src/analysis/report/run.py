"""Make a report: run the notebooks, turn them into pages, and swap the finished folder in."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.redact import redact
from analysis.report.errors import ReportError
from analysis.report.interactive import FIGURES, bundle
from analysis.report.numbers import numbers_page
from analysis.report.overview import index_of, render_index
from analysis.report.pages import Page, convert, render
from analysis.report.progress import Progress
from analysis.report.results import merge, write
from analysis.report.search_index import search_script
from analysis.report.swap import replacing

_POLL_S = 0.05
_GRACE_S = 5.0


def build(
    study_name: str,
    data: Path,
    out: Path,
    notebooks: Sequence[Path],
    progress: Progress,
    generated_from: Mapping[str, Any] | None = None,
    banner: str = "",
) -> Path:
    """Make the report of a study in the folder `out` and return the path of its index.html.

    Each notebook runs with the parameters data (the study directory) and out (the folder that becomes the report), and
    may leave `<out>/results/<notebook>.json`. `generated_from` is a tree of plain values, shown on the first page and
    kept in results.json; `banner` stands on top of every page. Whatever fails or interrupts, SIGTERM too, the report
    that was there stays as it was; raises ReportError with one sentence then.
    """
    data, out = data.resolve(), out.absolute()
    progress.start(len(notebooks) + 1, f"report {study_name}")
    try:
        with _sigterm_as_exit(), replacing(out) as partial:
            work = partial / ".work"
            work.mkdir()
            executed = _run_all(notebooks, work, data, partial, progress)
            write_pages(study_name, partial, [convert(path) for path in executed], generated_from or {}, banner)
            shutil.rmtree(work)
            shutil.rmtree(partial / "results", ignore_errors=True)
        progress.advance("pages written")
    finally:
        progress.finish()
    return out / "index.html"


def write_pages(
    study: str, folder: Path, pages: list[Page], generated_from: Mapping[str, Any], banner: str = ""
) -> None:
    """Write results.json, each page and index.html into the folder, from what was left in its results/."""
    study = redact(study).text  # the name of a folder, which may be a host's or a person's
    results = merge(folder / "results", [page.stem for page in pages], study, generated_from)
    write(results, folder / "results.json")
    pages = [*pages, numbers_page(results)]
    assets = folder / "assets"
    assets.mkdir()
    (assets / FIGURES).write_text(bundle(), encoding="utf-8")
    (assets / "search.js").write_text(search_script(pages, results), encoding="utf-8")
    for page in pages:
        (folder / f"{page.stem}.html").write_text(render(page, pages, study, banner), encoding="utf-8")
    (folder / "index.html").write_text(render_index(index_of(results, pages), pages, banner), encoding="utf-8")


def _run_all(notebooks: Sequence[Path], work: Path, data: Path, out: Path, progress: Progress) -> list[Path]:
    """Run the notebooks, at most one a core at a time; the executed ones, in the order given."""
    waiting, running = list(notebooks), dict[Path, subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                notebook = waiting.pop(0)
                running[notebook] = _start(notebook, work, data, out)
            for notebook, process in list(running.items()):
                if process.poll() is not None:
                    del running[notebook]
                    _check(notebook, process.returncode, work)
                    progress.advance(notebook.stem)
            time.sleep(_POLL_S)
    finally:
        _stop(list(running.values()))
    return [work / notebook.name for notebook in notebooks]


def _start(notebook: Path, work: Path, data: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own: Ctrl-C reaches us alone, and we stop it and its kernel in order."""
    # No start-up files or history of the user, and the same hash seed: a report depends on its inputs only.
    env = {**os.environ, "IPYTHONDIR": str(work / "ipython"), "PYTHONHASHSEED": "0"}
    command = [
        sys.executable,
        "-m",
        "analysis.report.worker",
        str(notebook),
        str(work / notebook.name),
        str(data),
        str(out),
    ]
    with (work / f"{notebook.stem}.out").open("wb") as said, (work / f"{notebook.stem}.err").open("wb") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=log, env=env, start_new_session=True
        )  # fmt: skip


def _check(notebook: Path, status: int, work: Path) -> None:
    if status == 0:
        return
    said = (work / f"{notebook.stem}.out").read_text(encoding="utf-8", errors="replace").strip()
    log = (work / f"{notebook.stem}.err").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    why = (
        said.splitlines()[-1]
        if said
        else f"{notebook.name} ended with status {status}: {log[-1] if log else 'no message'}"
    )
    raise ReportError(f"the report was not made, the previous one is as it was. {why}")


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ask workers to end, which ends their kernels; kill those that do not."""
    for process in processes:
        process.terminate()
    until = time.monotonic() + _GRACE_S
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _sigterm_as_exit() -> Iterator[None]:
    """Within the block SIGTERM raises SystemExit, so that the folder is cleaned up (in the main thread only)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
