"""Make a report: run the notebooks, turn them into pages, and swap the finished folder in."""

import shutil
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.redact import redact
from analysis.report.errors import ReportError
from analysis.report.interactive import FIGURES, bundle
from analysis.report.kept import OUT, Kept, page_of
from analysis.report.made_from import MADE_FROM
from analysis.report.next_time import with_section
from analysis.report.numbers import numbers_page
from analysis.report.overview import index_of, render_index
from analysis.report.pages import Page, render
from analysis.report.progress import Progress
from analysis.report.results import merge, write
from analysis.report.search_index import search_script
from analysis.report.swap import replacing
from analysis.report.workers import Workers

WORK = ".work"


def build(
    study_name: str,
    data: Path,
    out: Path,
    notebooks: Sequence[Path],
    progress: Progress,
    generated_from: Mapping[str, Any] | None = None,
    banner: str = "",
    *,
    question: str = "",
    pool: Workers | None = None,
    kept: Kept | None = None,
    made_from: str | None = None,
) -> Path:
    """Make the report of a study in the folder `out` and return the path of its index.html.

    Each notebook runs with the parameters data (the study directory) and out (a folder whose content goes into the
    report), and may leave `<out>/results/<notebook>.json`. `generated_from` is a tree of plain values, shown on the
    first page and kept in results.json; `banner` stands on top of every page, `question` on top of
    the first. `pool` runs the notebooks (one is made when none is given), `kept` has what unchanged ones made last
    time, `made_from` is written beside the pages for `made_from.is_unchanged`. Whatever fails or interrupts, SIGTERM
    too, the report that was there stays as it was; raises ReportError with one sentence then.
    """
    data, out = data.resolve(), out.absolute()
    progress.start(len(notebooks) + 1, f"report {study_name}")
    try:
        with _sigterm_as_exit(), replacing(out) as partial, pool or Workers() as workers:
            work = partial / WORK
            work.mkdir()
            made = _make_all(notebooks, work, data, workers, kept, progress)
            for notebook in notebooks:
                _take(notebook.stem, made[notebook] / OUT, partial)
            pages = [page_of(made[notebook]) for notebook in notebooks]
            write_pages(study_name, partial, pages, generated_from or {}, banner, question)
            shutil.rmtree(work)
            shutil.rmtree(partial / "results", ignore_errors=True)
            if made_from is not None:
                (partial / MADE_FROM).write_text(made_from, encoding="utf-8")
        progress.advance("pages written")
    finally:
        progress.finish()
    return out / "index.html"


def _take(page: str, made: Path, partial: Path) -> None:
    """Copy what a page left into the report. Raises ReportError where another page's table or figure has its name."""
    for kind in ("figures", "tables"):
        if taken := sorted(path.name for path in (made / kind).glob("*") if (partial / kind / path.name).exists()):
            raise ReportError(f"{page} and a page before it both write {kind}/{taken[0]}: give one another name")
    shutil.copytree(made, partial, dirs_exist_ok=True)


def _make_all(
    notebooks: Sequence[Path], work: Path, data: Path, workers: Workers, kept: Kept | None, progress: Progress
) -> dict[Path, Path]:
    """The folder of each notebook's page and files: kept ones, and others as they are made."""
    made: dict[Path, Path] = {}
    for notebook in notebooks:
        if kept and kept.find(notebook, work / notebook.stem):
            made[notebook] = work / notebook.stem
            progress.advance(f"{notebook.stem} (unchanged)")
    missing = [notebook for notebook in notebooks if notebook not in made]
    for notebook, folder in workers.run(missing, work, data):
        made[notebook] = folder
        if kept:
            kept.keep(notebook, folder)
        progress.advance(notebook.stem)
    return made


def write_pages(
    study: str,
    folder: Path,
    pages: list[Page],
    generated_from: Mapping[str, Any],
    banner: str = "",
    question: str = "",
) -> None:
    """Write results.json, each page and index.html into the folder, from what was left in its results/."""
    study = redact(study).text  # the name of a folder, which may be a host's or a person's
    results = merge(folder / "results", [page.stem for page in pages], study, generated_from, question)
    write(results, folder / "results.json")
    pages = with_section(pages, results, generated_from.get("engines", ()), is_rebuilt=bool(banner))
    pages.append(numbers_page(results))
    assets = folder / "assets"
    assets.mkdir()
    (assets / FIGURES).write_text(bundle(), encoding="utf-8")
    (assets / "search.js").write_text(search_script(pages, results), encoding="utf-8")
    for page in pages:
        (folder / f"{page.stem}.html").write_text(render(page, pages, study, banner), encoding="utf-8")
    (folder / "index.html").write_text(render_index(index_of(results, pages), pages, banner), encoding="utf-8")


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
