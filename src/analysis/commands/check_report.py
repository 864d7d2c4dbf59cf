"""Say whether a study's report may be shared: nothing secret, private or active in it."""

import argparse
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """The report."""
    parser.add_argument("data", help="a study, whose report below reports/ is checked, or the folder of a report")


def run(options: argparse.Namespace) -> int:
    """Print each problem, or that there is none; exit status 1 where there is one."""
    from analysis import paths
    from analysis.report.check import problems
    from analysis.report.made_from import place_of

    given = Path(options.data)
    report = given if (given / "results.json").is_file() else place_of(paths.find(options.data))
    found = problems(report)
    for problem in found:
        print(problem)
    files = sum(path.is_file() for path in report.rglob("*"))
    print(f"{report}: {len(found)} problems" if found else f"{report}: {files} files, nothing to hold back")
    return 1 if found else 0
