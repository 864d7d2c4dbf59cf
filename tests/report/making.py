"""Small notebooks for the tests, made on the spot."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS = 'data: str = ""\nout: str = ""'
SETUP = """
import json
from pathlib import Path
import polars as pl
from analysis import charts
from analysis.estimates import cells
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.findings.assumed import Assumption, Assumptions
from analysis.report.answer import answer
from analysis.report.figure import figure
from analysis.report.table import table
OUT = Path(out)
def record(name, estimates=(), takeaways=(), claims=()):
    (OUT / "results").mkdir(exist_ok=True)
    rows = {"estimates": [e.to_json() for e in estimates], "takeaways": list(takeaways), "claims": list(claims)}
    (OUT / "results" / f"{name}.json").write_text(json.dumps(rows, allow_nan=False))
"""


def notebook(path: Path, *cells: str, setup: str = SETUP) -> Path:
    """Write a notebook: a cell that begins with '#' is markdown, any other is code."""
    made = [
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        new_code_cell(setup, metadata={"tags": ["remove-cell"]}),
        *(new_markdown_cell(c) if c.startswith("#") else new_code_cell(c) for c in cells),
    ]
    for number, cell in enumerate(made):
        cell["id"] = str(number)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=made, metadata=kernel), path)
    return path


class Silent:
    """A progress that keeps what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def start(self, total: int, what: str) -> None:
        self.said.append(f"start {total} {what}")

    def advance(self, what: str) -> None:
        self.said.append(what)

    def finish(self) -> None:
        self.said.append("finish")
