"""Where things are: the only module that knows the tree, and which study a name means."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
REPORTS = ROOT / "reports"
STORES = REPORTS / ".stores"
SCRIPTS = REPORTS / ".scripts"
SCHEMA = PACKAGE / "store" / "schema.sql"
VIEWS = PACKAGE / "store" / "views"
CHECKS = PACKAGE / "store" / "checks"
ENGINES = PACKAGE / "engines"


class NoSuchStudyError(Exception):
    """A study that is not there: the message lists the studies there are."""


def find(data: str | Path) -> Path:
    """The study directory that `data` names: a path, or a name below data/; a trailing slash is fine.

    Raises NoSuchStudyError, which lists the studies there are.
    """
    given = Path(data).expanduser()
    for folder in (given, DATA / given, ROOT / given):  # the last: a notebook's kernel runs elsewhere
        if str(data) and folder.is_dir():
            return folder.resolve()
    there = ", ".join(sorted(f"{p.name}/" for p in DATA.glob("*") if p.is_dir())) or "none"
    what = "is a file, not a folder" if given.is_file() else "is not there"
    raise NoSuchStudyError(
        f"DATA={data or '(empty)'} {what}. Studies below data/: {there}. "
        "DATA is one of these names, or the path of a folder with metric pages and logs."
    )


def place(data: Path) -> Path:
    """Where a command that writes into a study writes: the path, or the study below data/ where only that is there."""
    return DATA / data if not data.is_dir() and (DATA / data).is_dir() else data
