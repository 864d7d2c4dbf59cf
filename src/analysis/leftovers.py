"""What a process that was killed has left behind: found by the process id in its name."""

import os
import re
import shutil
from pathlib import Path


def remove(folder: Path, pattern: re.Pattern[str]) -> None:
    """Remove the entries of a folder whose names match and name, as group 1, a process that no longer runs."""
    for path in folder.iterdir():
        match = pattern.fullmatch(path.name)
        if match and (int(match[1]) == os.getpid() or not is_alive(int(match[1]))):
            discard(path)


def discard(path: Path) -> None:
    """Remove a file or a folder, there or not."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_alive(pid: int) -> bool:
    """Whether a process of this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
