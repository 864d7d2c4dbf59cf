"""The report of one study: read it in, run the notebooks on it, and put the pages where they belong."""

import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis.findings.arm_words import question
from analysis.findings.assumed import reconstruction
from analysis.redact import redact, redacted
from analysis.report.kept import Kept
from analysis.report.made_from import notebooks, place_of, today
from analysis.report.progress import Progress, Reading, TerminalProgress
from analysis.report.run import build
from analysis.report.workers import Workers
from analysis.store import fingerprint
from analysis.store.fleet import study_of
from analysis.store.opened import PINNED, Store, open_store

ENGINES = """
    select distinct engine || coalesce(' ' || engine_version, '') as engine from boot_arms where engine is not null
    order by engine
"""
DEFECTS = "select defect, engine, versions, scope, detected_by, action, detail from defects order by all"
VERSIONS = ("altair", "duckdb", "papermill", "polars", "scipy")


def make(data: str | Path, out: Path | None = None, *, force: bool = False) -> Path:
    """Make the report of the study that `data` names (or is) and return the path of its index.html.

    It goes to `out`, or to reports/<study>/ (docs/decisions/0004). What the last one was made from decides what is done
    again, unless `force`: everything is, then. Raises NoSuchStudyError, ServerError, NothingToReadError or ReportError,
    each with one sentence.
    """
    folder = data if isinstance(data, Path) else study_of(data, lambda text: print(text, file=sys.stderr))
    books = notebooks()
    now = today(folder, books)
    progress = TerminalProgress()
    with Workers() as workers:  # they import while the study is read
        store = read_in(folder, progress)
        workers.environment = {PINNED: str(store.database)}
        kept = Kept(store.database.parent / "notebooks", {book: now.key(book) for book in books}, renew=force)
        index = build(
            folder.name, folder, out or place_of(folder), books, progress, generated_from(store), banner_of(store),
            question=question(store.connection), pool=workers, kept=kept, made_from=now.text(),
        )  # fmt: skip
    if today(folder, books) != now:
        print(f"{folder}: something changed while the report was made; run it again to have it in.", file=sys.stderr)
    return index


def read_in(folder: Path, progress: Progress) -> Store:
    """The store of a study, read in under a progress bar when it is missing or old."""
    reading = Reading(progress, folder.name)
    try:
        return open_store(folder, reading)
    finally:
        progress.finish()
        if said := reading.summary():
            print(said, file=sys.stderr)


def banner_of(store: Store) -> str:
    """What stands on top of every page of a study that was reconstructed; empty for raw files."""
    return redact(reconstruction(store.connection)).text


def generated_from(store: Store) -> dict[str, Any]:
    """What a report was made from, as results.json has it: files, defects, digests of data and code, versions."""
    files = store.sql("select status, count(*)::bigint as n from files group by status order by status")
    read = store.sql("select file, sha256 from files order by file")
    return {
        "place": fingerprint.short(store.data),
        "files": dict(files.iter_rows()),
        "engines": redacted(store.sql(ENGINES)["engine"].to_list()),
        "defects": redacted(store.sql(DEFECTS).to_dicts()),
        "data_sha256": fingerprint.digest(f"{name} {sha}" for name, sha in read.iter_rows()),
        "code_sha256": fingerprint.code(),
        "versions": {"analysis": version("analysis"), "python": platform.python_version()}
        | {name: version(name) for name in VERSIONS},
    }
