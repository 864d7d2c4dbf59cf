"""Read a study and render its report; the path of the report is printed last."""

import argparse
import sys
from pathlib import Path

from analysis import paths
from analysis.report.made_from import is_unchanged, notebooks, place_of, today


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--force", action="store_true", help="make it anew, even when nothing has changed")
    parser.add_argument("--out", type=Path, help="where the report goes (default: reports/<study>/)")


def run(options: argparse.Namespace) -> int:
    """Make the report, or name the one that is there when nothing has changed since."""
    folder = paths.find(options.data)
    out = (options.out or place_of(folder)).absolute()
    if not options.force and is_unchanged(out, today(folder, notebooks())):
        print(f"{folder.name}: nothing has changed since this report was made (--force makes it anew)", file=sys.stderr)
        print(out / "index.html")
        return 0
    from analysis.report.study_report import make  # papermill and nbconvert take a second to import

    print(make(options.data, options.out, force=options.force))
    return 0
