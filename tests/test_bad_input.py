"""Bad input gets one clear sentence, an exit status, no traceback; what was there before stays."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import paths
from tests.conftest import copy_boots, run_analysis


def _sentence(*arguments: str) -> str:
    run = run_analysis(*arguments)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    return run.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("command", ["report", "facts"])
@pytest.mark.parametrize("data", ["no-such-study/", "", "data/vllm-cpu/README.md"])
def test_a_wrong_study_lists_the_studies_there_are(command: str, data: str) -> None:
    assert "vllm-cpu/" in _sentence(command, data)


@pytest.mark.parametrize(
    "data", ["vllm-cpu", "vllm-cpu/", "data/vllm-cpu", "data/vllm-cpu/", str(paths.DATA / "vllm-cpu")]
)
def test_a_study_is_named_by_path_or_by_name(data: str) -> None:
    assert paths.find(data) == paths.DATA / "vllm-cpu"


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    sentence = _sentence("report", str(tmp_path))
    assert str(tmp_path) in sentence
    assert "empty" in sentence


def test_a_folder_without_a_known_file_names_what_it_saw(tmp_path: Path) -> None:
    (tmp_path / "shopping.txt").write_text("milk, eggs\n")
    sentence = _sentence("report", str(tmp_path))
    assert "shopping.txt" in sentence
    assert "docs/formats" in sentence


def test_a_failed_run_leaves_the_previous_report(tmp_path: Path) -> None:
    data = copy_boots(tmp_path / "study", ["R1"])
    out = tmp_path / "out"
    assert run_analysis("report", str(data), "--out", str(out)).returncode == 0
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert before
    shutil.rmtree(data)
    data.mkdir()
    assert "empty" in _sentence("report", str(data), "--out", str(out))
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before
    assert [p.name for p in tmp_path.iterdir() if "partial" in p.name] == []


def test_a_damaged_file_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    data = copy_boots(tmp_path / "study", ["A3", "R1"])
    page = next((data / "metrics" / "A3").glob("*.gz"))
    page.write_bytes(page.read_bytes()[:3000])
    (data / "metrics" / "noise.prom.gz").write_bytes(gzip.compress(os.urandom(2000)))
    run = run_analysis("facts", str(data))
    assert run.returncode == 0, run.stderr
    import json

    files = {f["file"]: f for f in json.loads(run.stdout)["files"]}
    assert files[page.relative_to(data).as_posix()]["status"] in ("partial", "unreadable")
    assert files[page.relative_to(data).as_posix()]["message"]
    assert files["metrics/noise.prom.gz"]["status"] in ("unrecognised", "unreadable")
    assert files["boots/A3.log"]["status"] == "read"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    data = copy_boots(tmp_path / "study", ["A3"])
    (data / "boots" / "A3.log").chmod(0)
    assert "permission" in run_analysis("facts", str(data)).stdout


def test_damaged_files_never_break_a_reader(tmp_path: Path) -> None:
    from tests.fuzz import corpus, one_round

    files = corpus()
    assert len({file.suffix for file in files}) >= 6
    assert [fault for seed in range(60) if (fault := one_round(seed, files, tmp_path))] == []


@pytest.mark.parametrize("command", ["facts", "report"])
def test_a_full_disk_is_one_sentence(tmp_path: Path, command: str) -> None:
    """A limit on the size of files written stands for the full disk: the same write fails in the same place."""
    data = copy_boots(tmp_path / "full", ["A3"])
    limited = f"ulimit -f 300; exec {sys.executable} -m analysis {command} {data}"
    if command == "report":
        limited += f" --out {tmp_path / 'out'}"
    run = subprocess.run(["bash", "-c", limited], cwd=paths.ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1, run.stderr
    assert "Traceback" not in run.stderr
    assert "run it again" in run.stderr or "disk full" in run.stderr
    assert not (tmp_path / "out").exists()
    assert not list((paths.STORES).glob(f"full-*{'/*.partial'}"))


@pytest.mark.parametrize("out", ["file/sub", "file"])
def test_a_place_for_the_report_that_cannot_be(tmp_path: Path, out: str) -> None:
    data = copy_boots(tmp_path / "study", ["R1"])
    (tmp_path / "file").write_text("not a folder")
    sentence = _sentence("report", str(data), "--out", str(tmp_path / out))
    assert "file" in sentence
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_long_name_is_a_name(tmp_path: Path) -> None:
    data = copy_boots(tmp_path / ("n" * 250), ["R1"])
    assert run_analysis("facts", str(data)).returncode == 0
    from analysis.study import Study

    assert Study(data).sql("select outcome from boots").item() == "refused"
