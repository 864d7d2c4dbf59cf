"""Where things are: the only module that knows the tree."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
REPORTS = ROOT / "reports"
STORES = REPORTS / ".stores"
SCHEMA = PACKAGE / "store" / "schema.sql"
VIEWS = PACKAGE / "store" / "views"
CHECKS = PACKAGE / "store" / "checks"
ENGINES = PACKAGE / "engines"
