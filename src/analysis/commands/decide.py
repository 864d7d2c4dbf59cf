"""Write the draft of a decision record beside a study, or carry one over to new data and check it."""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from analysis.findings.decision import check, decision, unreadable
from analysis.findings.decision_draft import draft, to_do
from analysis.findings.decision_facts import facts
from analysis.findings.decision_tables import next_step, sentence
from analysis.paths import find
from analysis.report.made_from import place_of
from analysis.report.results import key
from analysis.report.takeaways import bearing
from analysis.store.fleet import study_of
from analysis.study import Study

NAME = "decision.toml"
SETTINGS = """
    select arm, min(setting) from boot_arms where outcome = 'served' group by arm order by min(ordinal_in_study)
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA, --arm, --from and --force."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--arm", help="the arm that was chosen")
    parser.add_argument("--from", dest="source", help="a study whose record is carried over to this one")
    parser.add_argument("--force", action="store_true", help="replace a record that is there")


def run(options: argparse.Namespace) -> int:
    """Write DATA/decision.toml and print its path and what to do with it; with --from, what has come true."""
    folder = find(options.data)
    target = folder / NAME
    if target.exists() and not options.force:
        print(f"{target} is there already and was left as it is; FORCE=1 replaces it.", file=sys.stderr)
        return 1
    if options.source:
        record = find(options.source) / NAME
        if not record.is_file():
            print(f"{record} is not there: make decide DATA={options.source} writes it.", file=sys.stderr)
            return 1
        text = record.read_text(encoding="utf-8", errors="replace")
    else:
        study = Study(study_of(options.data))
        settings = {str(arm): str(setting or "") for arm, setting in study.connection.sql(SETTINGS).fetchall()}
        if options.arm and options.arm not in settings:
            print(f"no arm {options.arm} that served; there are {', '.join(settings) or 'none'}", file=sys.stderr)
            return 1
        today = datetime.now(UTC).date().isoformat()
        text = draft(today, facts(study.connection), settings, options.arm, *_reasons(folder))
        study.connection.close()
    _write(target, text)
    print(target)
    if options.source:
        _say(study_of(options.data))
    else:
        print("\n".join(to_do(text, settings, options.data)))
    return 0


def _reasons(folder: Path) -> tuple[list[str], list[str]]:
    """What the study's report found that bears on a decision, where it has been made, and the ids of what else."""
    results = place_of(folder) / "results.json"
    try:
        return bearing(json.loads(results.read_text(encoding="utf-8")), key)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [], []


def _write(target: Path, text: str) -> None:
    """Written whole or not at all: a record of half the conditions would hold nobody to the others."""
    partial = target.with_name(f".{NAME}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(target)


def _say(folder: Path) -> None:
    connection = Study(folder).connection
    record = decision(connection)
    checked = check(record, facts(connection)) if record else []
    broken = unreadable(connection)
    for said in (sentence(record, checked, broken), next_step(record, checked, broken)):
        if said:
            print(said)
