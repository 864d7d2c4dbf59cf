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

    def find(self, notebook: Path, into: Path) -> bool:
        """Copy what the notebook made when all was as it is now into the folder `into`; whether that was there."""
        place = self._place(notebook)
        if self.renew or not (place / PAGE).is_file():
            return False
        try:
            shutil.copytree(place, into)
        except (OSError, shutil.Error):  # another run has just replaced it
            leftovers.discard(into)
            return False
        return True

    def keep(self, notebook: Path, made: Path) -> None:
        """Keep what a notebook made, in the place of what it made before."""
        place = self._place(notebook)
        partial = self.folder / f".{place.name}.{os.getpid()}.partial"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            leftovers.remove(self.folder, _PARTIAL)
            shutil.copytree(made / OUT, partial / OUT)
            shutil.copy2(made / PAGE, partial / PAGE)
            for other in self.folder.glob(f"{notebook.stem}-*"):
                if len(other.name) == len(place.name):
                    leftovers.discard(other)
            partial.rename(place)
        except (OSError, shutil.Error):  # a full disk, another run: the report does not need what is kept
            leftovers.discard(partial)

    def _place(self, notebook: Path) -> Path:
        return self.folder / f"{notebook.stem}-{self.keys[notebook][:16]}"


def page_of(made: Path) -> Page:
    """The page that a notebook left."""
    values = json.loads((made / PAGE).read_text(encoding="utf-8"))
    return Page(**values | {"toc": tuple(Heading(**heading) for heading in values["toc"])})
