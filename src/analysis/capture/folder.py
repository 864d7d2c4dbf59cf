"""The study directory that a capture writes into: nothing in it is ever overwritten, nothing appears by halves."""

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

SKELETON = """\
# What was intended; every key is optional. docs/formats/study.md lists them.
title = {title}

# margin = 0.05                    # equivalence margin for comparisons, declared before the runs
# [[boots]]                        # one for each boot whose arm the logs do not tell
# id = "boot-1"                    # the stem of its log, boots/boot-1.log
# arm = "A"
# files = ["metrics/*"]            # its pages, where folders and file names do not say so

"""


class CaptureError(Exception):
    """A capture that cannot begin or go on: one sentence that says why, and what to do."""


class Folder:
    """A study directory to write into, by several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CaptureError(f"{path}: cannot be made ({error.strerror}); give another DATA=") from None

    def begin(self, about: Mapping[str, str]) -> None:
        """Write a study.toml with `about` in its table [capture], unless there is one."""
        table = "".join(f"{key} = {quoted(value)}\n" for key, value in about.items())
        with suppress(FileExistsError):
            text = SKELETON.format(title=quoted(self.path.resolve().name)) + f"[capture]\n{table}"
            self.write("study.toml", text.encode())

    def write(self, name: str, data: bytes) -> Path:
        """Write a new file, whole or not at all. Raises FileExistsError where there is one of that name."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        hidden = place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}.partial")
        try:
            hidden.write_bytes(data)
            try:
                os.link(hidden, place)  # unlike a rename, fails where the name is taken
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                with place.open("xb") as file:
                    file.write(data)
        finally:
            hidden.unlink(missing_ok=True)
        return place

    def note(self, about: str, what: str) -> None:
        """Append a line to errors.txt: when, of what, and a sentence."""
        line = f"{stamp(datetime.now(UTC))} {about}: {' '.join(what.split())[:400]}\n"
        with self._lock, (self.path / "errors.txt").open("a", encoding="utf-8") as file:
            file.write(line)


def stamp(at: datetime) -> str:
    """A time as file names have it, in UTC: 20261129T131500.250Z."""
    at = at.astimezone(UTC)
    return f"{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03}Z"


def quoted(text: str) -> str:
    """A TOML basic string."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
