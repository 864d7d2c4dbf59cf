"""The command line: `python -m analysis report DATA`; each command is a module of analysis/commands/."""

import argparse
import os
import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import duckdb

from analysis import commands
from analysis.capture.folder import CaptureError
from analysis.paths import NoSuchStudyError
from analysis.report.errors import ReportError
from analysis.sources.prometheus_server import ServerError
from analysis.store.load import NothingToReadError, StoreError
from analysis.store.parquet import ExportError

EXPECTED = (
    CaptureError, ExportError, NoSuchStudyError, NothingToReadError, ReportError, ServerError, StoreError,
)  # fmt: skip
"""What a command cannot do, each with a sentence that says so."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command: exit status 0 when it did what it says, 1 when its input does not allow it, 130 on Ctrl-C."""
    given = sys.argv[1:] if arguments is None else arguments
    # What follows -- is another program's command line: argparse would take its options for ours.
    dashes = given.index("--") if "--" in given else len(given)
    given, after_dashes = given[:dashes], given[dashes + 1 :]
    parser = argparse.ArgumentParser(prog="python -m analysis", description=__doc__)
    choices = parser.add_subparsers(dest="command", required=True)
    names = sorted(module.name for module in iter_modules(commands.__path__))
    asked = given[0].replace("-", "_") if given else ""
    for name in [asked] if asked in names else names:  # the others' imports take their time
        command = _command(name)
        its = choices.add_parser(name.replace("_", "-"), help=_help(command))
        command.arguments(its)
        its.set_defaults(run=command.run)
    options = parser.parse_args(given, argparse.Namespace(after_dashes=after_dashes))
    try:
        return int(options.run(options))
    except EXPECTED as error:
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


def _command(name: str) -> ModuleType:
    return import_module(f"{commands.__name__}.{name}")


def _help(command: ModuleType) -> str:
    """The first line of the command's docstring, as it reads in a list."""
    line = (command.__doc__ or "").splitlines()[0].removesuffix(".")
    return line[:1].lower() + line[1:]


def _sentence(error: Exception) -> str:
    """What the file system or the database could not do, and what to do about it."""
    why = getattr(error, "strerror", None) or str(error).splitlines()[0]
    place = getattr(error, "filename", None) or "the store"
    return f"{place}: {why}; nothing was changed. Free space or give another place with OUT=..., then run it again."


if __name__ == "__main__":
    sys.exit(main())
