"""Make one HTML file of a study's report; its path is printed last."""

import argparse
import sys
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--out", type=Path, help="the file (default: reports/<study>.html)")


def run(options: argparse.Namespace) -> int:
    """Make the report where it is missing or old, then the file beside its folder."""
    from analysis.report.made_from import place_of
    from analysis.report.single import check_place, single
    from analysis.report.study_report import make
    from analysis.store.fleet import study_of

    place = place_of(study_of(options.data))
    file = options.out or place.with_name(f"{place.name}.html")
    check_place(file)
    text = single(make(options.data).parent)
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
    print(f"{len(text.encode()) / 1e6:.1f} MB, all pages in one file", file=sys.stderr)
    print(file)
    return 0
