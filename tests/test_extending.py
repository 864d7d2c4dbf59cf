"""docs/extending.md keeps its word: its steps, block by block, on a copy of the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from analysis import paths
from analysis.commands import notebook
from tests.simulate import Truth
from tests.test_repository import test_notebooks_are_thin_clean_and_parameterized as notebook_rules

DOC = (paths.ROOT / "docs" / "extending.md").read_text()
STEPS = re.findall(r"<!-- (\w+)(?:: (.+?))? -->\n```\w+\n(.*?)```", DOC, re.DOTALL)
PAGE_LINE, LOG_LINE = re.search(r"^    (vllm:draft\S+ [\d.]+)\n    (INFO .*)$", DOC, re.MULTILINE).groups()


def test_the_steps_are_found() -> None:
    assert [step[0] for step in STEPS].count("new") == 4
    assert len(STEPS) == DOC.count("<!-- ") == 14


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with every step done, and a study in which the engine does what the page says."""
    root = tmp_path_factory.mktemp("copy")
    for part in ("src", "notebooks", "docs"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    study = Truth(boots=1).write(root / "data" / "study")
    with (study / "boots" / "b1.log").open("a") as log:
        log.write(f"(EngineCore pid=74) {LOG_LINE}\n")
    for n, page in enumerate(sorted(study.glob("metrics/b1/*.prom"))):
        name, value = PAGE_LINE.rsplit(" ", 1)
        with page.open("a") as file:
            file.write(f"# TYPE vllm:draft_wait_seconds_total counter\n{name} {float(value) * n / 20}\n")
    for kind, place, text in STEPS:
        if kind != "run":
            _do(root, kind, place.replace("STUDY", "data/study"), text)
    return root


def _do(root: Path, kind: str, place: str, text: str) -> None:
    name, _, marker = place.partition(" | ")
    file = root / name
    if kind == "new":
        assert not file.exists()
        file.write_text(text)
    elif kind == "append":
        file.write_text(file.read_text() + text)
    elif kind == "before":
        assert marker in file.read_text()
        file.write_text(file.read_text().replace(marker, text + marker, 1))
    else:
        assert kind == "cell"
        assert _run(root, "-m", "analysis", "notebook", file.stem).returncode == 0
        made = nbformat.read(file, as_version=4)
        made.cells.append(new_code_cell(text, id="own"))
        nbformat.write(made, file)


def _run(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run([sys.executable, *command], cwd=root, env=env, capture_output=True, text=True, timeout=300)


def test_the_new_metric_and_line_are_read(copy: Path) -> None:
    [code] = [text for kind, _, text in STEPS if kind == "run"]
    run = _run(copy, "-c", code.replace("DATA", repr(str(copy / "data" / "study"))))
    assert run.returncode == 0, run.stderr


def test_the_claim_is_checked(copy: Path) -> None:
    run = _run(copy, "-m", "analysis", "claims", "study")
    assert run.returncode == 0, run.stderr
    assert "D1  reproduced" in run.stdout


def test_the_page_is_in_the_report_and_on_its_first_page(copy: Path) -> None:
    for other in (copy / "notebooks").glob("*.ipynb"):
        if other.stem != "55-draft-wait":
            other.unlink()
    run = _run(copy, "-m", "analysis", "report", "study")
    assert run.returncode == 0, run.stderr
    assert "1 runs waited for the draft model." in run.stdout
    index = Path(run.stdout.splitlines()[-1])
    assert 'href="55-draft-wait.html"' in index.read_text()
    assert (index.parent / "figures" / "draft-wait.svg").exists()
    page = (index.parent / "55-draft-wait.html").read_text()
    assert page.count('href="numbers.html#n-draft-wait-share-boot-b1"') == 2  # its value, and the figure in full
    found = {e["id"]: e for e in json.loads((index.parent / "results.json").read_text())["estimates"]}
    assert found["draft.wait_share"]["value"] == pytest.approx(12.5 / 1200)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is no name for a notebook"), ("../55-x", "is no name"), ("55", "is no name"), ("5-x", "is no name"),
        ("55-X", "is no name"), ("55-a b", "is no name"), ("55-" + "x" * 80, "longer than"),
        ("40-other", "has the number of 40-token-pool"), ("40-token-pool", "is there already"),
    ],
)  # fmt: skip
def test_a_bad_name_is_refused(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(paths.NOTEBOOKS / "40-token-pool.ipynb", tmp_path)
    before = (tmp_path / "40-token-pool.ipynb").read_bytes()
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path)
    assert notebook.run(type("Options", (), {"name": name})) == 1
    assert why in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["40-token-pool.ipynb"]
    assert (tmp_path / "40-token-pool.ipynb").read_bytes() == before


def test_a_new_notebook_keeps_the_rules_of_all_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path)
    assert notebook.run(type("Options", (), {"name": "55-my-question.ipynb"})) == 0
    notebook_rules(tmp_path / "55-my-question.ipynb")
