"""The repository keeps its own rules: one source of versions, rooms that import one way, clean notebooks."""

import ast
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from analysis import paths

ROOMS = [
    "sources", "engines", "store", "estimates", "findings", "charts", "report", "capture", "reconstruct", "commands",
]  # fmt: skip
MAY_IMPORT = {
    "sources": {"sources", "engines"},
    "engines": {"engines"},
    "store": {"store", "sources", "engines"},
    "estimates": {"estimates"},
    "findings": {"findings", "store", "estimates", "engines"},
    "charts": {"charts"},
    "report": {"report", "charts", "findings", "estimates", "store"},
    "capture": {"capture", "sources"},
    "reconstruct": {"reconstruct"},
    "commands": {"commands", "capture", "findings", "reconstruct", "report", "store"},
}
NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
MODULES = sorted(paths.PACKAGE.rglob("*.py"))


def _requirements() -> dict[str, str]:
    lock = (paths.ROOT / "requirements.lock").read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock, re.MULTILINE))


def _project() -> dict:
    return tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]


def _environment() -> str:
    return (paths.ROOT / "environment.yml").read_text()


def test_every_range_of_the_project_is_in_the_lock() -> None:
    project = _project()
    named = [
        re.match(r"[A-Za-z0-9-]+", line)[0]
        for line in project["dependencies"] + project["optional-dependencies"]["dev"]
    ]
    assert len(named) > 20
    assert [name for name in named if name not in _requirements()] == []


def test_the_lock_has_hashes_and_no_addresses() -> None:
    lock = (paths.ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    assert "make lock" in lock.splitlines()[1]
    blocks = re.split(r"^(?=[a-z0-9-]+==)", lock, flags=re.MULTILINE)[1:]
    assert len(blocks) > 80
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_conda_brings_the_interpreter_and_the_lock_brings_the_rest() -> None:
    floor = _project()["requires-python"].removeprefix(">=")
    assert f"  - python={floor}\n" in _environment()
    assert _environment().count("      - ") == 1
    assert "      - -r requirements.lock\n" in _environment()
    assert "://" not in _environment()
    assert f"--python-version {floor} " in (paths.ROOT / "Makefile").read_text()


def test_rooms_import_one_way() -> None:
    wrong = []
    for module in MODULES:
        room = module.relative_to(paths.PACKAGE).parts[0]
        if room not in MAY_IMPORT:
            continue
        for node in ast.walk(ast.parse(module.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                if parts[0] == "analysis" and len(parts) > 1 and parts[1] in ROOMS and parts[1] not in MAY_IMPORT[room]:
                    wrong.append(f"{module.name} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(paths.PACKAGE)))
def test_modules_and_functions_stay_readable(module: Path) -> None:
    text = module.read_text()
    assert len(text.splitlines()) <= 300
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [f.name for f in functions if f.end_lineno - f.lineno > 50] == []


@pytest.mark.parametrize("file", sorted(paths.VIEWS.glob("*.sql")), ids=lambda p: p.name)
def test_every_view_starts_with_its_grain(file: Path) -> None:
    assert file.read_text().startswith("-- one row per ")


def test_there_are_notebooks() -> None:
    assert {"10-inventory", "20-where-time-goes", "30-kv-budget", "40-token-pool"} <= {n.stem for n in NOTEBOOKS}


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_thin_clean_and_parameterized(file: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.title
    parameters = [cell for cell in code if "parameters" in cell.metadata.get("tags", [])]
    assert len(parameters) == 1
    assert parameters[0] is code[0]
    assert set(re.findall(r"^(\w+):", parameters[0].source, re.MULTILINE)) == {"data", "out"}
    assert len(code) <= 20
    assert max(len(cell.source.splitlines()) for cell in code) <= 12
    assert len(prose) >= len(code) - 3
    assert not any(re.search(r"\$[^$\n]+\$", cell.source) for cell in prose), (
        "mathematics is words or Unicode: no MathJax offline"
    )
    assert not any(re.search(r"\d+\.\d+ ?%|\d{3,}", cell.source) for cell in prose), (
        "a number in prose is computed, not typed"
    )


def test_each_figure_and_table_has_a_name_of_its_own() -> None:
    """The name is that of its files, and of its anchor."""
    cells = [c.source for n in NOTEBOOKS for c in nbformat.read(n, as_version=4).cells if c.cell_type == "code"]
    parts = [part for source in cells for part in re.split(r"study\.(?:figure|table)\(", source)[1:]]
    names = [re.search(r'"([a-z0-9-]+)",', part)[1] for part in parts]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))


def test_tracked_text_speaks_of_the_project_alone() -> None:
    """No path of a machine that it was made on."""
    kinds = {".py", ".md", ".sql", ".toml", ".ipynb", ".jsonl", ".log", ".json"}
    machine = re.compile(r"/(work|root)/\w")
    files = [
        p for folder in ("src", "notebooks", "docs", "tests", "data", ".ci") for p in (paths.ROOT / folder).rglob("*")
    ]
    read = [p for p in files if p.is_file() and p.suffix in kinds]
    assert len(read) > 200
    assert [str(p) for p in read if machine.search(p.read_text(errors="replace"))] == []
