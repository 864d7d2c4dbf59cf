"""Whole runs in processes of their own: the growth of cost and memory, and the time of a report beside its floor."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

from analysis import paths
from benchmarks import busy, generate

EMPTY = "empty notebooks"
REPLICAS = 8
_PEAK = """
def peak():
    # Not ru_maxrss of this process: it begins with the memory of whoever started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
"""
_LOAD = """
import json, sys, time
from pathlib import Path
from analysis.store.load import load
began = time.process_time()
load(Path(sys.argv[1]), Path(sys.argv[2]))
print(json.dumps([time.process_time() - began, peak()]))
"""
_REPORT = """
import resource, sys
from pathlib import Path
from analysis import paths
from analysis.__main__ import main
paths.STORES, paths.NOTEBOOKS = Path(sys.argv[1]), Path(sys.argv[2])
status = main(["report", sys.argv[3], "--out", sys.argv[4]])
print(max(peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
sys.exit(status)
"""


def growth(folder: Path, samples: Sequence[float]) -> list[tuple[int, float, float, float]]:
    """For about so many samples: how many it were, MB on disk, CPU seconds into a store with its views, peak MB."""
    rows = []
    for about in samples:
        data = folder / f"{about:.0f}"
        count = generate.scrapes(data, 8, max(2, round(about / 8 / generate.SAMPLES)))
        size = sum(file.stat().st_size for file in data.rglob("*.prom")) / 1e6
        seconds, memory = json.loads(_python(_LOAD, str(data), str(folder / "growth.duckdb")))
        rows.append((count, size, seconds, memory))
        shutil.rmtree(data)
    return rows


def reports(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Wall seconds of each round: the first report of data/vllm-cpu, the next, with changes, and empty notebooks."""
    took = [_reports(folder / f"round-{number}") for number in range(rounds)]
    return {name: [each[name] for each in took] for name in took[0]}


def _reports(folder: Path) -> dict[str, float]:
    data, books, out = folder / "vllm-cpu", folder / "notebooks", folder / "report"
    shutil.copytree(paths.DATA / "vllm-cpu", data)
    shutil.copytree(paths.NOTEBOOKS, books, ignore=lambda _, names: [n for n in names if not n.endswith(".ipynb")])
    arguments = [str(folder / "stores"), str(books), str(data), str(out)]
    took = {"first report": _wall(arguments), "again, unchanged": _wall(arguments)}
    book = sorted(books.glob("[0-9]*.ipynb"))[-1]
    notebook = nbformat.read(book, as_version=4)
    notebook.cells[-1].source += "\n"
    nbformat.write(notebook, book)
    took["one notebook changed"] = _wall(arguments)
    page = sorted((data / "metrics" / "A1").glob("*.gz"))[-1]
    shutil.copy2(page, page.with_name("20261129T140000Z.prom.gz"))
    took["one page added"] = _wall(arguments)
    took[EMPTY] = _empty(folder, len(list(books.glob("[0-9]*.ipynb"))))
    return took


def days(folder: Path, scrapes: int, span: timedelta) -> list[dict[str, Any]]:
    """Two studies of 8 replicas from their files to their report: of pages, and of a day with everything recorded.

    What it is, what is in it, its MB, wall seconds, and the largest process in MB.
    """
    pages = folder / "day", "pages", lambda data: {"samples": generate.scrapes(data, REPLICAS, scrapes)}
    of_span = max(2, round(span / generate.SCRAPE_EVERY))
    full = folder / "full", "pages, step logs and traces", lambda data: busy.study(data, REPLICAS, span, of_span)
    return [_day(*pages), _day(*full)]


def _day(data: Path, what: str, make: Callable[[Path], dict[str, int]]) -> dict[str, Any]:
    made = make(data)
    size = sum(file.stat().st_size for file in data.rglob("*") if file.is_file()) / 1e6
    began = time.monotonic()
    said = _python(_REPORT, str(data.with_suffix(".stores")), str(paths.NOTEBOOKS), str(data), str(data) + ".report")
    took = time.monotonic() - began
    shutil.rmtree(data)
    return {"what": what, "made": made, "mb": size, "seconds": took, "memory": float(said.split()[-1])}


def _wall(arguments: list[str]) -> float:
    began = time.monotonic()
    _python(_REPORT, *arguments)
    return time.monotonic() - began


def _empty(folder: Path, count: int) -> float:
    """As many empty notebooks through papermill and nbconvert, one after another."""
    source = folder / "empty.ipynb"
    cell = new_code_cell("", id="0")
    nbformat.write(new_notebook(cells=[cell]), source)
    began = time.monotonic()
    for _ in range(count):
        made = papermill.execute_notebook(source, folder / "made.ipynb", kernel_name="python3", progress_bar=False)
        HTMLExporter().from_notebook_node(made)
    return time.monotonic() - began


def _python(code: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(paths.PACKAGE.parent)}
    environment.pop("POLARS_MAX_THREADS", None)  # one core is for the pairs
    run = subprocess.run(
        [sys.executable, "-c", _PEAK + code, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout
