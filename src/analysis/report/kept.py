"""What notebooks made is kept, under the digest of all that they were made from: the next report need not run them."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from analysis import leftovers
from analysis.report.pages import Heading, Page
from analysis.report.worker import PAGE

OUT = "out"
_PARTIAL = re.compile(r"\..*\.(\d+)\.partial")


class Kept:
    """The folder of the notebooks that a study's reports were made of; `keys` has today's digest of each.

    With `renew` nothing that is there is used.
    """

    def __init__(self, folder: Path, keys: Mapping[Path, str], *, renew: bool = False) -> None:
        self.folder, self.keys, self.renew = folder, keys, renew

    def find(self, notebook: Path) -> Path | None:
        """The folder of what the notebook made when all was as it is now."""
        place = self._place(notebook)
        return place if not self.renew and (place / PAGE).is_file() and (place / OUT).is_dir() else None

    def keep(self, notebook: Path, made: Path) -> Path:
        """Keep what a notebook made, in the place of what it made before. Returns where it is."""
        place = self._place(notebook)
        self.folder.mkdir(parents=True, exist_ok=True)
        leftovers.remove(self.folder, _PARTIAL)
        partial = self.folder / f".{place.name}.{os.getpid()}.partial"
        try:
            shutil.copytree(made / OUT, partial / OUT)
            shutil.copy2(made / PAGE, partial / PAGE)
            leftovers.discard(place)
            partial.rename(place)
        except OSError:  # a full disk: the report can be made without, unless it is full for that too
            leftovers.discard(partial)
            return made
        for other in self.folder.glob(f"{notebook.stem}-*"):
            if other != place and len(other.name) == len(place.name):
                leftovers.discard(other)
        return made

    def _place(self, notebook: Path) -> Path:
        return self.folder / f"{notebook.stem}-{self.keys[notebook][:16]}"


def page_of(made: Path) -> Page:
    """The page that a notebook left."""
    values = json.loads((made / PAGE).read_text(encoding="utf-8"))
    return Page(**values | {"toc": tuple(Heading(**heading) for heading in values["toc"])})
