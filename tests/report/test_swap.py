"""A report appears whole or not at all."""

import subprocess
from pathlib import Path

import pytest

from analysis.report import swap
from analysis.report.errors import ReportError
from analysis.report.swap import replacing


def old_report(out: Path) -> None:
    out.mkdir(parents=True)
    (out / "results.json").write_text("old")
    (out / "only-in-the-old.html").write_text("old")


def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_the_new_report_takes_the_place_of_the_old(tmp_path: Path) -> None:
    out = tmp_path / "reports" / "study"
    old_report(out)
    with replacing(out) as partial:
        (partial / "results.json").write_text("new")
        assert partial.parent == out.parent and (out / "results.json").read_text() == "old"
    assert names(out) == ["results.json"] and (out / "results.json").read_text() == "new"
    assert names(out.parent) == ["study"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_report(tmp_path: Path, error: type[BaseException]) -> None:
    out = tmp_path / "study"
    old_report(out)
    with pytest.raises(error), replacing(out) as partial:
        (partial / "results.json").write_text("half")
        raise error
    assert (out / "results.json").read_text() == "old"
    assert names(tmp_path) == ["study"]


def test_an_interrupt_between_the_two_renames_puts_the_old_report_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "study"
    old_report(out)
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(swap, "_exchange", lambda partial, out: False)  # a system that cannot
    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(out):
        pass
    assert (out / "results.json").read_text() == "old"
    assert names(tmp_path) == ["study"]


def test_what_dead_processes_left_is_cleaned_and_a_moved_report_put_back(tmp_path: Path) -> None:
    out, dead = tmp_path / "study", dead_pid()
    (tmp_path / f".study.partial-{dead}").mkdir()
    (tmp_path / ".study.partial-1").mkdir()  # process 1 runs: its folder is left alone
    (tmp_path / f".study-b.partial-{dead}").mkdir()  # another study's
    old_report(tmp_path / f".study.old-{dead}")
    with pytest.raises(ValueError), replacing(out):
        raise ValueError
    assert names(tmp_path) == [f".study-b.partial-{dead}", ".study.partial-1", "study"]
    assert (out / "results.json").read_text() == "old"


def test_a_folder_that_is_no_report_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.txt").write_text("mine")
    with pytest.raises(ReportError, match="exists and is not a report"), replacing(out):
        pass
    assert names(out) == ["chapter.txt"]


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    old_report(tmp_path / "elsewhere")
    (tmp_path / "study").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReportError), replacing(tmp_path / "study"):
        pass
    assert (tmp_path / "elsewhere" / "results.json").exists()
