"""Print as JSON what was read from a study directory."""

import argparse
import json
import tempfile
from pathlib import Path

import duckdb

from analysis.findings.facts import facts
from analysis.store.fleet import study_of
from analysis.store.load import load


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA."""
    parser.add_argument("data", help="a folder, or the name of one below data/")


def run(options: argparse.Namespace) -> int:
    """Read the study into a store of its own and print its facts."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "facts.duckdb"
        load(study_of(options.data), database)
        with duckdb.connect(str(database), read_only=True) as connection:
            print(json.dumps(facts(connection), allow_nan=False, indent=1))
    return 0
