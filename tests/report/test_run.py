"""Building a report: what fails says so in one sentence; what is killed leaves nothing."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from report_making import Silent, notebook  # made importable by conftest.py

from analysis.report.errors import ReportError
from analysis.report.run import build

BARE = "import os, pathlib"


def test_a_failing_notebook_is_named_with_its_cell_and_the_old_report_stays(tmp_path: Path) -> None:
    out = tmp_path / "reports" / "study"
    out.mkdir(parents=True)
    (out / "results.json").write_text("old")
    bad = notebook(tmp_path / "10-bad.ipynb", "# Title", "1 + 1", "x = {}['gone']\ny = 2", setup=BARE)
    progress = Silent()
    with pytest.raises(ReportError) as caught:
        build("study", tmp_path, out, [bad], progress)
    sentence = str(caught.value)
    assert sentence.endswith("10-bad.ipynb, cell 5 (x = {}['gone']): KeyError: 'gone'")
    assert "Traceback" not in sentence and "\n" not in sentence
    assert (out / "results.json").read_text() == "old"
    assert [p.name for p in out.parent.iterdir()] == ["study"]
    assert progress.said[-1] == "finish"


def test_a_notebook_gets_its_parameters_and_the_same_input_gives_the_same_bytes(report: Path, tmp_path: Path) -> None:
    data = report.parents[1]
    book = data / "nb" / "20-second.ipynb"
    again = build("study", data / "x" / "..", tmp_path / "again", [book], Silent()).parent
    assert sorted(p.name for p in again.iterdir()) == [
        "20-second.html",
        "assets",
        "index.html",
        "numbers.html",
        "results.json",
        "seen.txt",
        "tables",
    ]
    for file in ("tables/wide.csv", "seen.txt", "assets/figures.js"):
        assert (again / file).read_bytes() == (report / file).read_bytes()
    assert (again / "seen.txt").read_text().startswith(f"{data} ")
    pages = [(folder / book.with_suffix(".html").name).read_text() for folder in (again, report)]
    assert len({re.findall(r"<main.*</main>", page, re.S)[0] for page in pages}) == 1


def test_two_pages_that_write_one_file_are_refused(tmp_path: Path) -> None:
    """The link of one of them would lead to the other's numbers."""
    writes = "(pathlib.Path(out) / 'tables').mkdir()\n(pathlib.Path(out) / 'tables' / 'x.csv').write_text('1')"
    books = [notebook(tmp_path / f"{name}.ipynb", "# Title", writes, setup=BARE) for name in ("10-a", "20-b")]
    with pytest.raises(ReportError, match=r"^20-b and a page before it both write tables/x\.csv: give"):
        build("study", tmp_path, tmp_path / "reports" / "study", books, Silent())
    assert not (tmp_path / "reports" / "study").exists()


BUILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from making import Silent
from analysis.report.run import build
root = Path(sys.argv[2])
build("study", root, root / "reports" / "study", [root / "10-slow.ipynb"], Silent())
"""


def test_a_killed_build_leaves_the_old_report_and_no_process(tmp_path: Path) -> None:
    """Ctrl-C takes the same way: test_swap.py has what each exception leaves."""
    out = tmp_path / "reports" / "study"
    out.mkdir(parents=True)
    (out / "results.json").write_text("old")
    notebook(
        tmp_path / "10-slow.ipynb",
        "import time\n(pathlib.Path(data) / 'kernel.pid').write_text(str(os.getpid()))\ntime.sleep(120)",
        setup=BARE,
    )
    builder = subprocess.Popen([sys.executable, "-c", BUILD, str(Path(__file__).parent), str(tmp_path)],
                               stderr=subprocess.DEVNULL)  # fmt: skip
    pid = _wait_for(tmp_path / "kernel.pid", builder)
    builder.send_signal(signal.SIGTERM)
    assert builder.wait(30) != 0
    assert (out / "results.json").read_text() == "old"
    assert [p.name for p in out.parent.iterdir()] == ["study"]
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    raise AssertionError("the kernel outlived the build")


def _wait_for(path: Path, builder: subprocess.Popen[bytes]) -> int:
    for _ in range(600):
        if path.exists() and path.read_text():
            return int(path.read_text())
        assert builder.poll() is None, "the build ended before it was killed"
        time.sleep(0.1)
    raise AssertionError("the notebook did not start")
