"""Start a notebook of your own, which is part of the report from then on."""

import argparse
import re
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from analysis.paths import NOTEBOOKS

NAME = re.compile(r"[1-9][0-9]-[a-z0-9]+(-[a-z0-9]+)*")
LONGEST = 60
TITLE = """\
# {title}

What is asked here, and of what? State the question, then what its answer rests on. Figures are computed in cells, never
typed."""
PARAMETERS = """\
data: str = "data/vllm-cpu"  # the study: a path, or the name of a folder below data/
out: str = ""  # where figures, tables and results are written; empty: nowhere"""
SETUP = """\
import polars as pl

from analysis import charts
from analysis.estimates import cells
from analysis.findings import inventory, token_pool
from analysis.study import Study

study = Study(data, out)"""
ANSWER = """\
outcomes = inventory.outcome_counts(study.connection)
served = [e for e in outcomes if e.qualifiers["outcome"] == "served"]
said = " and ".join(f"{{e.value:.0f}} of {{e.n}} boots served" for e in served)
study.answer("{name}", f"{{said}}.", *served, supporting=True)"""
FIGURE = """\
by_arm = inventory.outcomes_by_arm(study.connection)
study.figure(
    charts.outcome_count(by_arm, **inventory.describe_outcomes(by_arm)),
    "{name}-outcomes",
    by_arm,
    "Counted over the boot logs of the study.",
)"""
TABLE = """\
pools = [e for e in token_pool.census(study.connection) if e.id == "pool.tokens"]
boots = cells.frame([(e.qualifiers["boot"], e) for e in pools], {{"boot": pl.String, "pool": pl.String}})
study.table(boots, "{name}-boots", "Boots and their pools; one row a boot")"""
LIMITS = """\
## What this page cannot show

What the data of this study leave open, and what would have to be recorded to close it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """NAME."""
    parser.add_argument("name", help="two digits and words: 55-my-question")


def run(options: argparse.Namespace) -> int:
    """Write notebooks/NAME.ipynb from the template, unless the name is wrong or taken."""
    name = options.name.removesuffix(".ipynb")
    if wrong := _wrong(name):
        print(f"NAME={options.name or '(empty)'} {wrong}", file=sys.stderr)
        return 1
    file = NOTEBOOKS / f"{name}.ipynb"
    try:
        with file.open("x", encoding="utf-8") as stream:
            nbformat.write(made(name), stream)
    except FileExistsError:
        print(f"notebooks/{file.name} is there already; give another name", file=sys.stderr)
        return 1
    print(f"notebooks/{file.name}: open it with make lab; make report takes it in")
    return 0


def _wrong(name: str) -> str:
    """What is wrong with a name; empty where nothing is."""
    if not NAME.fullmatch(name):
        return "is no name for a notebook: two digits, which place it among the pages, then words, as in 55-my-question"
    if len(name) > LONGEST:
        return f"is longer than {LONGEST} characters"
    taken = sorted(p.stem for p in NOTEBOOKS.glob(f"{name[:2]}-*.ipynb") if p.stem != name)
    return f"has the number of {taken[0]}; take another, which places it among the pages" if taken else ""


def made(name: str) -> nbformat.NotebookNode:
    """The notebook: a question, its answer first, a figure, a table, and what it cannot show."""
    title = name[3:].replace("-", " ").capitalize()
    cells = [
        new_markdown_cell(TITLE.format(title=title)),
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        new_code_cell(SETUP, metadata={"tags": ["remove-cell"]}),
        new_code_cell(ANSWER.format(name=name)),
        new_markdown_cell("## A figure\n\nWhat it shows, and what it is counted over or estimated from."),
        new_code_cell(FIGURE.format(name=name)),
        new_markdown_cell("## A table\n\nWhat one row is, and in which units its columns are."),
        new_code_cell(TABLE.format(name=name)),
        new_markdown_cell(LIMITS),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = str(number)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(
        cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}, "title": title}
    )
