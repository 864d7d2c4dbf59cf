"""The README keeps its word: its commands run, its code runs, its answer is what the data say."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.estimates.rounding import show
from analysis.findings import step_time, time_split
from analysis.study import Study

TEXT = (paths.ROOT / "README.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
RUN_BY_CI = "make test"
"""The command that runs these tests; .ci/run calls it."""


def test_the_commands_are_found() -> None:
    assert {"make", RUN_BY_CI, "make report DATA=vllm-cpu/", "make facts DATA=vllm-cpu/"} <= set(COMMANDS)
    assert (paths.ROOT / ".ci" / "run").read_text().splitlines()[-1] == RUN_BY_CI


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != RUN_BY_CI])
def test_command(command: str) -> None:
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    run = subprocess.run(shlex.split(command), cwd=paths.ROOT, capture_output=True, text=True, timeout=900, env=alone)
    assert run.returncode == 0, run.stderr[-2000:]
    if command.startswith("make report"):
        assert Path(run.stdout.splitlines()[-1]).is_file()


def test_code() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    study = names["study"]
    assert study.ratio("prefill_time", "decode_time", run="A2").low is not None
    assert study.compare("A", "D", "available").verdict == "equivalent"


def test_the_answer_is_computed() -> None:
    study = Study("vllm-cpu-iterations")
    runs = time_split.runs(study.connection)
    own = time_split.prefill_shares(study.connection, runs)
    steps = [e for e in step_time.prefill_shares(study.connection, runs) if e.id == step_time.SHARE]
    said = re.search(r"<!-- answer -->(.*)<!-- /answer -->", TEXT)
    assert said is not None
    assert [e.high is not None and e.high < 0.5 for e in own] == [True, True]
    assert [e.high is not None and e.low is not None and e.low < 0.5 < e.high for e in steps] == [True, True]
    assert said[1] == (
        f"by the requests' own seconds it is not: prefill is {show(own[0])} and {show(own[1])} of them. In the "
        f"engine's steps it is {show(steps[0])} and {show(steps[1])} of the time, so neither side may be dropped."
    )


def test_every_file_named_in_the_tree_is_there() -> None:
    for name in re.findall(r"`((?:docs|src|tests|data|notebooks)/[\w./-]+)`", TEXT):
        assert (paths.ROOT / name).exists(), name


def test_every_study_has_its_line() -> None:
    tracked = subprocess.run(["git", "ls-files", "data"], cwd=paths.ROOT, capture_output=True, text=True).stdout
    studies = sorted({line.split("/")[1] for line in tracked.splitlines()})
    assert sorted(re.findall(r"^    data/([\w-]+)/ +\w.*$", TEXT, re.MULTILINE)) == studies
    assert len(studies) >= 6


def test_every_notebook_has_its_sentence() -> None:
    tracked = subprocess.run(["git", "ls-files", "notebooks"], cwd=paths.ROOT, capture_output=True, text=True).stdout
    names = [Path(line).stem for line in tracked.splitlines()]  # a notebook of one's own needs no sentence yet
    assert len(names) >= 4
    assert [name for name in names if f"`{name}`" not in TEXT] == []
