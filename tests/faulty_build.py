"""Make the report of a study with small notebooks, and stop where a test wants to strike.

python faulty_build.py DATA ROOT MOMENT: stores and report go to ROOT; at MOMENT (ingest, notebooks, swap, or none) the
file ROOT/now appears, with the process ids of what runs then, and nothing goes on for a minute.
"""

import os
import resource
import sys
import time
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from analysis import paths
from analysis.__main__ import main
from analysis.report import swap
from analysis.store import load

CELL = """
import os, time
from pathlib import Path
from analysis.study import Study
study = Study(data, out)
count = study.sql("select count(*)::bigint as n from samples").item()
(Path(out) / "{name}.txt").write_text(f"{{count}}\\n")
if "{name}" == "20-two" and os.environ.get("MOMENT") == "notebooks":
    Path(os.environ["NOW"]).write_text(f"{{os.getpid()}} {{os.getppid()}}")
    time.sleep(60)
if os.environ.get("MOMENT") == "disk":
    (Path(out) / "large").write_bytes(bytes(1 << 22))
"""


def write_notebooks(folder: Path) -> None:
    """Two notebooks that count samples."""
    folder.mkdir(exist_ok=True)
    for name in ("10-one", "20-two"):
        parameters = new_code_cell('data: str = ""\nout: str = ""', metadata={"tags": ["parameters"]})
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = new_notebook(cells=[parameters, new_code_cell(CELL.format(name=name))], metadata=kernel)
        for number, cell in enumerate(notebook.cells):
            cell["id"] = str(number)
        file = folder / f"{name}.ipynb"
        if not file.exists():
            nbformat.write(notebook, file)


def strike(now: Path) -> None:
    """Say that the moment has come, and wait for what comes."""
    now.write_text(str(os.getpid()))
    time.sleep(60)


def run(data: str, root: Path, moment: str) -> int:
    """The command `report`, with everything below `root`."""
    now = root / "now"
    os.environ |= {"MOMENT": moment, "NOW": str(now)}
    paths.NOTEBOOKS, paths.REPORTS, paths.STORES = root / "notebooks", root / "reports", root / "stores"
    write_notebooks(paths.NOTEBOOKS)
    if moment == "ingest":
        load.run_views = lambda connection: strike(now)
    if moment == "swap":
        swap._swap = lambda partial, out: strike(now)
    if moment == "disk":  # what is written beyond this fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
    return main(["report", data])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
