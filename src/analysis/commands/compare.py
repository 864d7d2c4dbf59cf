"""Compare two studies, or two arms of one: a table here, and a page whose path is printed last."""

import argparse
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """A, B and --out."""
    for side in ("a", "b"):
        parser.add_argument(side, help="a folder, or the name of one below data/; with an arm of it: folder#arm")
    parser.add_argument("--out", type=Path, help="where the page goes (default: reports/compare-<a>-against-<b>/)")


def run(options: argparse.Namespace) -> int:
    """Print the table, then the path of the page."""
    from analysis.report.compare_page import make  # charts and templates take a second to import

    page, table = make(options.a, options.b, options.out)
    print(table, end="\n\n")
    print(page)
    return 0
