"""Read a study and render its report; what the data say and the path of the report are printed last."""

import argparse
import os
from pathlib import Path

from analysis import redact


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--out", type=Path, help="where the report goes (default: reports/<study>/)")
    parser.add_argument(
        "--no-redact",
        action="store_true",
        help="leave secrets, addresses, names and paths as they are; not to be shared",
    )


def run(options: argparse.Namespace) -> int:
    """Make the report."""
    from analysis.report.study_report import make, takeaways  # papermill and nbconvert take a second to import

    if options.no_redact:
        os.environ[redact.SWITCH] = redact.OFF  # the notebooks' processes inherit it
    index = make(options.data, options.out)
    print(takeaways(index))
    print(index)
    return 0
