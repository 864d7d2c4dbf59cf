"""Style and types hold for the whole tree."""

import subprocess
import sys

import pytest

from analysis import paths


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["lint", "format", "types"],
)
def test_style(command: list[str]) -> None:
    run = subprocess.run([sys.executable, "-m", *command], cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
