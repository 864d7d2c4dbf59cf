"""The command line: `python -m analysis report DATA`, `python -m analysis facts DIR`."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import duckdb

from analysis.findings.facts import facts
from analysis.paths import NoSuchStudyError, find
from analysis.report.errors import ReportError
from analysis.store.load import NothingToReadError, StoreError, load


def main(arguments: list[str] | None = None) -> int:
    """Run one command: exit status 0 when it did what it says, 1 when its input does not allow it, 130 on Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m analysis", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser(
        "report", help="read a study and render its report; prints the path of the report last"
    )
    report.add_argument("data", help="a folder, or the name of one below data/")
    report.add_argument("--out", type=Path, help="where the report goes (default: reports/<study>/)")
    read = commands.add_parser("facts", help="print as JSON what was read from a study directory")
    read.add_argument("data", help="a folder, or the name of one below data/")
    options = parser.parse_args(arguments)
    try:
        return _report(options.data, options.out) if options.command == "report" else _facts(options.data)
    except (NoSuchStudyError, NothingToReadError, ReportError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, duckdb.Error) as error:
        print(_sentence(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; nothing was changed", file=sys.stderr)
        return 130


def _sentence(error: Exception) -> str:
    """What the file system or the database could not do, and what to do about it."""
    why = getattr(error, "strerror", None) or str(error).splitlines()[0]
    place = getattr(error, "filename", None) or "the store"
    return f"{place}: {why}; nothing was changed. Free space or give another place with OUT=..., then run it again."


def _facts(data: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "facts.duckdb"
        load(find(data), database)
        with duckdb.connect(str(database), read_only=True) as connection:
            print(json.dumps(facts(connection), allow_nan=False, indent=1))
    return 0


def _report(data: str, out: Path | None) -> int:
    from analysis.report.study_report import make  # papermill and nbconvert take a second to import

    print(make(data, out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
