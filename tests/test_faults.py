"""Whatever happens to a run, the report that was there stays, nothing is left behind, and the next run heals."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import copy_boots

BUILD = Path(__file__).with_name("faulty_build.py")
REPORT = ("reports", "study")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return copy_boots(tmp_path / "study", ["A3"])


def start(data: Path, root: Path, moment: str = "none") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(BUILD), str(data), str(root), moment],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(run: subprocess.Popen[str]) -> str:
    """What a run that ends well says on standard error."""
    said, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    assert said.strip().endswith("index.html")
    return errors


def add_page(data: Path, second: int) -> Path:
    """A later scrape of the boot: a copy of its last page under another time."""
    page = sorted((data / "metrics" / "A3").glob("*.gz"))[-1]
    return Path(shutil.copy2(page, page.with_name(f"20261129T14{second // 60:02}{second % 60:02}Z.prom.gz")))


def content(root: Path) -> dict[str, bytes]:
    report = root.joinpath(*REPORT)
    return {str(p.relative_to(report)): p.read_bytes() for p in sorted(report.rglob("*")) if p.is_file()}


def nothing_is_left(root: Path) -> None:
    assert [p.name for p in (root / "reports").iterdir()] == ["study"]
    stores = [p.name for folder in (root / "stores").iterdir() for p in folder.iterdir()]
    assert len(stores) == 2 and "notebooks" in stores and not any("partial" in name for name in stores)


@pytest.mark.parametrize("moment", ["ingest", "notebooks", "swap"])
def test_a_killed_run_leaves_the_report_and_the_next_one_heals(data: Path, tmp_path: Path, moment: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    finish(start(data, root))
    before = content(root)
    assert {"10-one.txt", "20-two.txt", "made-from.json", "index.html"} <= set(before)
    add_page(data, 1)
    run = start(data, root, moment)
    wait_for(root / "now", run)
    pids = list(map(int, (root / "now").read_text().split()))
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=30)
    assert content(root) == before
    wait_until_gone(pids)
    finish(start(data, root))
    after = content(root)
    assert int(after["20-two.txt"]) > int(before["20-two.txt"])
    assert set(after) == set(before)
    nothing_is_left(root)


def test_two_runs_at_once_both_end_well(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    runs = [start(data, root) for _ in range(2)]
    for run in runs:
        finish(run)
    assert content(root)["10-one.txt"] == content(root)["20-two.txt"]
    nothing_is_left(root)
    assert "nothing has changed" in finish(start(data, root))


def test_a_disk_that_fills_while_notebooks_run_is_one_sentence(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    finish(start(data, root))
    before = content(root)
    (root / "notebooks" / "20-two.ipynb").write_text(
        (root / "notebooks" / "20-two.ipynb").read_text().replace("import os, time", "import os, time, sys")
    )
    run = start(data, root, "disk")
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "Traceback" not in errors
    assert "the previous one is as it was. 20-two.ipynb, cell" in errors and "File too large" in errors
    assert content(root) == before
    finish(start(data, root))
    nothing_is_left(root)


def test_a_data_folder_is_only_read(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    folders = [data, *(p for p in data.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in [data, *data.rglob("*")]}
    try:
        finish(start(data, root))
        assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in [data, *data.rglob("*")]} == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_data_that_grow_meanwhile_are_told_and_read_next_time(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    run = start(data, root)
    stop = threading.Event()

    def grow() -> None:
        for second in range(3_000):  # longer than any machine takes to begin
            if stop.wait(0.1):
                return
            page = add_page(data, second)
            with (data / "boots" / "A3.log").open("a") as log:
                log.write(f"INFO 11-29 14:{second // 60:02}:{second % 60:02} [x.py:1] still there {page.name}\n")

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        errors = finish(run)
    finally:
        stop.set()
        growing.join()
    assert "changed while the report was made" in errors
    counted = {int(content(root)[f"{name}.txt"]) for name in ("10-one", "20-two")}
    assert len(counted) == 1  # all pages of a report are of one state
    assert "changed while" not in finish(start(data, root))
    assert int(content(root)["10-one.txt"]) > counted.pop()
    nothing_is_left(root)
    assert "nothing has changed" in finish(start(data, root))


def test_one_changed_notebook_runs_alone_and_one_added_page_is_read_alone(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    finish(start(data, root))
    book = root / "notebooks" / "20-two.ipynb"
    book.write_text(book.read_text().replace('{count}\\\\n\\")', '{count} of now\\\\n\\")'))
    errors = finish(start(data, root))
    assert "10-one (unchanged)" in errors and "20-two (unchanged)" not in errors
    assert content(root)["20-two.txt"].endswith(b"of now\n")
    counts = int(content(root)["10-one.txt"])
    add_page(data, 1)
    errors = finish(start(data, root))
    assert "(unchanged)" not in errors
    assert int(content(root)["10-one.txt"]) > counts


def wait_for(path: Path, run: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if path.exists() and path.read_text():
            return
        assert run.poll() is None, run.communicate()
        time.sleep(0.1)
    raise AssertionError("the moment did not come")


def wait_until_gone(pids: list[int]) -> None:
    for _ in range(150):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {pids}")
