"""Read a study and render its report; what the data say and the path of the report are printed last."""

import argparse
import json
import os
import sys
from pathlib import Path

from analysis import redact
from analysis.report.made_from import is_unchanged, notebooks, place_of, today
from analysis.report.results import estimate_from_json, key
from analysis.report.takeaways import text
from analysis.store.fleet import study_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA and --out."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--force", action="store_true", help="make it anew, even when nothing has changed")
    parser.add_argument("--out", type=Path, help="where the report goes (default: reports/<study>/)")
    parser.add_argument(
        "--no-redact",
        action="store_true",
        help="leave secrets, addresses, names and paths as they are; not to be shared",
    )


def run(options: argparse.Namespace) -> int:
    """Make the report, or name the one that is there when nothing has changed since; then say what it says."""
    if options.no_redact:
        os.environ[redact.SWITCH] = redact.OFF  # the notebooks' processes inherit it
    folder = study_of(options.data, lambda text: print(text, file=sys.stderr))
    out = (options.out or place_of(folder)).absolute()
    if not options.force and is_unchanged(out, today(folder, notebooks())):
        print(f"{folder.name}: nothing has changed since this report was made (--force makes it anew)", file=sys.stderr)
        index = out / "index.html"
    else:
        from analysis.report.study_report import make  # papermill and nbconvert take a second to import

        had_post = (out / "post.md").is_file()
        index = make(folder, options.out, force=options.force)
        if had_post:
            print("the earlier report's post went with it: make post writes it anew", file=sys.stderr)
    print(_takeaways(index))
    print(index)
    return 0


def _takeaways(index: Path) -> str:
    """The takeaways of a finished report, as text for the terminal."""
    results = json.loads((index.parent / "results.json").read_text(encoding="utf-8"))
    return text(results, {key(row): estimate_from_json(row) for row in results["estimates"]}, key)
