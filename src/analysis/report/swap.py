"""A report appears whole or not at all: written beside the old one, swapped in when complete."""

import ctypes
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.leftovers import is_alive
from analysis.report.errors import ReportError

_HERE, _TRADE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of renameat2(2)."""


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a new empty folder beside `out`; when the block ends well it takes the place of `out`, else it is removed.

    What dead processes left behind is cleaned first, and a report that one of them had moved aside is put back.
    Raises ReportError when `out` is there and is not a report.
    """
    if out.is_symlink() or (out.exists() and not _is_report(out)):
        raise ReportError(f"{out} exists and is not a report: move it away, or choose another name")
    out.parent.mkdir(parents=True, exist_ok=True)
    clean_stale(out)
    partial = out.parent / f".{out.name}.partial-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        _swap(partial, out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def clean_stale(out: Path) -> None:
    """Remove what builds of `out` by processes that no longer run left behind; put back a report they moved aside."""
    pattern = re.compile(rf"\.{re.escape(out.name)}\.(partial|old)-(\d+)")
    for path in sorted(out.parent.iterdir()):
        match = pattern.fullmatch(path.name)
        if match is None or (int(match[2]) != os.getpid() and is_alive(int(match[2]))):
            continue
        if match[1] == "old" and not out.exists():
            path.rename(out)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _swap(partial: Path, out: Path) -> None:
    """Put the new report in the place of the old one; at no moment there is none, whatever other runs do."""
    if _exchange(partial, out):
        return
    old = out.parent / f".{out.name}.old-{os.getpid()}"
    try:
        if out.exists():
            out.rename(old)
        partial.rename(out)
    finally:  # also after Ctrl-C between the two renames
        if old.exists() and not out.exists():
            old.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(partial: Path, out: Path) -> bool:
    """Let two folders trade places in one step, where `out` exists and the system can (Linux); whether it was done."""
    try:
        trade = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    return not trade(_HERE, os.fsencode(partial), _HERE, os.fsencode(out), _TRADE)


def _is_report(path: Path) -> bool:
    return path.is_dir() and ((path / "results.json").is_file() or not any(path.iterdir()))
