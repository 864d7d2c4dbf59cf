"""The report of one study: read it in, run the notebooks on it, and put the pages where they belong."""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis import paths
from analysis.findings.assumed import reconstruction
from analysis.redact import redact, redacted
from analysis.report.progress import Progress, TerminalProgress
from analysis.report.results import estimate_from_json, key
from analysis.report.run import build
from analysis.report.takeaways import text
from analysis.store import fingerprint
from analysis.store.fleet import study_of
from analysis.study import Study

DEFECTS = "select defect, engine, versions, scope, detected_by, action, detail from defects order by all"
STEPS = 5
"""Parts of the progress of reading: enough to see it move, few enough for a log."""
VERSIONS = ("altair", "duckdb", "papermill", "polars", "scipy")


def make(data: str, out: Path | None = None) -> Path:
    """Make the report of the study that `data` names and return the path of its index.html.

    It goes to `out`, or to reports/<study>/ (docs/decisions/0004). Raises NoSuchStudyError, ServerError,
    NothingToReadError or ReportError, each with one sentence.
    """
    folder = study_of(data, lambda text: print(text, file=sys.stderr))
    progress = TerminalProgress()
    study = read_in(folder, progress)
    notebooks = sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb"))
    return build(
        study.name, folder, out or place_of(folder), notebooks, progress, generated_from(study), banner_of(study)
    )


def read_in(folder: Path, progress: Progress) -> Study:
    """The study, read into its store under a progress bar when the store is missing or old."""
    said = 0

    def advance(done: int, total: int, file: str) -> None:
        nonlocal said
        if not said and not done:
            progress.start(STEPS, f"read {folder.name} ({total:,} files)")
        while said < STEPS * done // max(total, 1):
            said += 1
            progress.advance(f"{done:,} of {total:,} files")

    try:
        return Study(folder, progress=advance)
    finally:
        progress.finish()


def place_of(folder: Path) -> Path:
    """reports/<study>/, unless that holds the report of another folder of the same name."""
    plain = paths.REPORTS / folder.name
    try:
        held = json.loads((plain / "results.json").read_text(encoding="utf-8"))["generated_from"]["place"]
    except (OSError, ValueError, KeyError, TypeError):
        return plain
    return plain if held == fingerprint.short(folder) else paths.REPORTS / f"{folder.name}-{fingerprint.short(folder)}"


def banner_of(study: Study) -> str:
    """What stands on top of every page of a study that was reconstructed; empty for raw files."""
    return redact(reconstruction(study.connection)).text


def takeaways(index: Path) -> str:
    """The takeaways of a finished report, as text for the terminal."""
    results = json.loads((index.parent / "results.json").read_text(encoding="utf-8"))
    return text(results, {key(row): estimate_from_json(row) for row in results["estimates"]}, key)


def generated_from(study: Study) -> dict[str, Any]:
    """What a report was made from, as results.json has it: files, defects, digests of data and code, versions."""
    files = study.sql("select status, count(*)::bigint as n from files group by status order by status")
    read = study.sql("select file, sha256 from files order by file")
    return {
        "place": fingerprint.short(study.data),
        "files": dict(files.iter_rows()),
        "defects": redacted(study.sql(DEFECTS).to_dicts()),
        "data_sha256": fingerprint.digest(f"{name} {sha}" for name, sha in read.iter_rows()),
        "code_sha256": fingerprint.code(),
        "versions": {"analysis": version("analysis"), "python": platform.python_version()}
        | {name: version(name) for name in VERSIONS},
    }
