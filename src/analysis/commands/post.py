"""Write a study's post, an article with its figures, from its report; the paths are printed last."""

import argparse
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--out", type=Path, help="the report's folder (default: reports/<study>/)")


def run(options: argparse.Namespace) -> int:
    """Make the report where it is missing or old, then the post in its folder."""
    from analysis.report.post import make

    post = make(options.data, options.out)
    print(post.with_suffix(".html"))
    print(post)
    return 0
