"""What a report was made from: data, notebooks, code and environment as digests. Imports little: it is asked first."""

import hashlib
import json
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis import paths
from analysis.redact import is_off
from analysis.store import fingerprint

MADE_FROM = "made-from.json"
_CODE = {".py", ".sql", ".toml", ".json", ".j2", ".css", ".js"}


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """Digests of the study's files, of our code, of the environment, and of each notebook by name."""

    data: str
    code: str
    environment: str
    notebooks: dict[str, str]

    def key(self, notebook: Path) -> str:
        """Digest of all that one notebook's page depends on."""
        return fingerprint.digest([self.data, self.code, self.environment, self.notebooks[notebook.name]])

    def text(self) -> str:
        """As the report keeps it."""
        return json.dumps(asdict(self), indent=1) + "\n"


def today(folder: Path, notebooks: Sequence[Path]) -> MadeFrom:
    """What a report of the study in `folder` would be made from now."""
    return MadeFrom(
        data=fingerprint.digest([str(folder), fingerprint.of(folder)]),
        code=_code(),
        environment=_environment(),
        notebooks={notebook.name: hashlib.sha256(notebook.read_bytes()).hexdigest() for notebook in notebooks},
    )


def is_unchanged(report: Path, now: MadeFrom) -> bool:
    """Whether a whole report lies there that was made from the same."""
    try:
        held = (report / MADE_FROM).read_text(encoding="utf-8")
    except OSError:
        return False
    pages = [f"{Path(name).stem}.html" for name in now.notebooks]
    return held == now.text() and all((report / name).is_file() for name in ("index.html", "results.json", *pages))


def notebooks() -> list[Path]:
    """The notebooks of a report, in their order."""
    return sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb"))


def place_of(folder: Path) -> Path:
    """reports/<study>/, unless that holds the report of another folder of the same name."""
    plain = paths.REPORTS / folder.name
    try:
        held = json.loads((plain / "results.json").read_text(encoding="utf-8"))["generated_from"]["place"]
    except (OSError, ValueError, KeyError, TypeError):
        return plain
    return plain if held == fingerprint.short(folder) else paths.REPORTS / f"{folder.name}-{fingerprint.short(folder)}"


def _code() -> str:
    digest = hashlib.sha256()
    for file in sorted(paths.PACKAGE.rglob("*")):
        if file.suffix in _CODE:
            digest.update(f"{file.relative_to(paths.PACKAGE)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _environment() -> str:
    """The interpreter, the installed distributions (by names with versions), and whether texts are redacted."""
    packages = Path(sysconfig.get_path("purelib"))
    installed = sorted(entry.name for entry in packages.glob("*.dist-info"))
    return fingerprint.digest([sys.version, f"redacted {not is_off()}", *installed])
