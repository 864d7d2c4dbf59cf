"""Write the files of data/cluster-a again from the table of figures in its study.toml."""

import argparse
import sys
from pathlib import Path

from analysis.paths import DATA
from analysis.reconstruct import cluster_a
from analysis.reconstruct.figures import FiguresError, read


def arguments(parser: argparse.ArgumentParser) -> None:
    """--out."""
    parser.add_argument("--out", type=Path, help="where the files go (default: data/cluster-a/)")


def run(options: argparse.Namespace) -> int:
    """Write the files; the same table gives the same bytes."""
    study = DATA / "cluster-a"
    try:
        n = cluster_a.write(read(study), options.out or study)
    except FiguresError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{n} files written below {options.out or study}")
    return 0
