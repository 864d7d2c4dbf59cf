"""What several rooms' tests share: the small study and its report, made once a session."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import paths

SMALL = ["A2", "A3", "B1", "R1", "A0-crash"]
"""Boots of data/vllm-cpu that make the small study: loaded with scrapes, unloaded, another arm, refused, crashed."""


def run_analysis(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "analysis", *arguments], capture_output=True, text=True, timeout=timeout, cwd=paths.ROOT
    )


def copy_boots(target: Path, boots: list[str]) -> Path:
    """A study directory with some boots of data/vllm-cpu."""
    source = paths.DATA / "vllm-cpu"
    for boot in boots:
        for file in [
            *source.glob(f"boots/{boot}.log"),
            *source.glob(f"*/{boot}/*"),
            *source.glob(f"host/{boot}.jsonl"),
        ]:
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
    shutil.copy2(source / "study.toml", target / "study.toml")
    return target


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five boots of the recorded study."""
    return copy_boots(tmp_path_factory.mktemp("data") / "small", SMALL)


@pytest.fixture(scope="session")
def small_report(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the small study, made by the command line."""
    out = tmp_path_factory.mktemp("reports") / "small"
    run = run_analysis("report", str(small_study), "--out", str(out))
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == str(out / "index.html")
    return out


@pytest.fixture(scope="session")
def results(small_report: Path) -> dict[str, Any]:
    """results.json of the small study's report."""
    return json.loads((small_report / "results.json").read_text(), parse_constant=pytest.fail)
