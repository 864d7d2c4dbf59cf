"""Check the figures that were published about a study: prints the ledger, fails when a verdict has changed."""

import argparse
import sys
from collections.abc import Sequence

from analysis.findings.claims import FILE, Judged, broken, ledger, sentence
from analysis.paths import NoSuchStudyError
from analysis.redact import redact
from analysis.store.fleet import ServerError, study_of
from analysis.store.load import NothingToReadError, StoreError
from analysis.study import Study

HOLDS, CHANGED, BROKEN = 0, 1, 2
"""Exit status: every verdict is the one that the author stands by; some is not; some cannot be checked."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA."""
    parser.add_argument("data", help="a folder, or the name of one below data/")


def run(options: argparse.Namespace) -> int:
    """Print the ledger and say whether every claim still has the verdict that published.toml states."""
    try:
        connection = Study(study_of(options.data)).connection
    except (NoSuchStudyError, NothingToReadError, ServerError, StoreError) as error:
        print(error, file=sys.stderr)
        return BROKEN
    problems = broken(connection)
    if problems:
        print("\n".join(_plain(problem) for problem in problems), file=sys.stderr)
    judged = ledger(connection)
    if not judged and not problems:
        print(f"{options.data} has no {FILE}: write one (docs/formats/published.md)", file=sys.stderr)
    if not judged:
        return BROKEN
    print(_plain(sentence(judged, [])))
    print("\n".join(_lines(judged)))
    changed = [j for j in judged if not j.stands]
    for j in changed:
        said = f"{j.claim['claim']}: {j.verdict.verdict}, where {FILE} stands by {j.claim['stands']}"
        print(_plain(said), file=sys.stderr)
    return BROKEN if problems else CHANGED if changed else HOLDS


def _lines(judged: Sequence[Judged]) -> list[str]:
    """One line a claim, in columns."""
    wide = max(len(j.claim["claim"]) for j in judged)
    return [
        _plain(
            f"{j.claim['claim']:<{wide}}  {j.verdict.verdict:<14}  {j.claim['text']} {j.why[:1].upper()}{j.why[1:]}."
        )
        for j in judged
    ]


def _plain(text: str) -> str:
    """Redacted, and nothing in it moves the cursor of a terminal."""
    return "".join(ch if ch.isprintable() else " " for ch in redact(text).text)
