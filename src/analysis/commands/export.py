"""Write a study's canonical tables as Parquet, with their dictionary; such a folder is a study too."""

import argparse
from pathlib import Path

from analysis import paths
from analysis.store.fleet import study_of
from analysis.store.parquet import export


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, the name of one below data/, or a fleet's address")
    parser.add_argument("--out", type=Path, help="the folder to write (default: reports/<study>-tables/)")


def run(options: argparse.Namespace) -> int:
    """Write the tables; the folder's path is printed."""
    from analysis.study import Study  # what it imports takes a second

    study = Study(study_of(options.data))
    print(export(study.connection, options.out or paths.REPORTS / f"{study.name}-tables"))
    return 0
