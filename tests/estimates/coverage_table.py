"""Writes the long simulations' coverage into docs/methods.md, between its markers: about five minutes.

PYTHONPATH=src python tests/estimates/coverage_table.py docs/methods.md
"""

import sys
from pathlib import Path

from test_coverage import covered, every_case

BEGIN, END = "<!-- coverage: begin (written by make coverage) -->", "<!-- coverage: end -->"


def table() -> str:
    """One row per case: method, situation, coverage with its simulation error, median width, studies."""
    rows = [
        "| method | situation | coverage | ± (95 %) | median width | studies |",
        "|---|---|---|---|---|---|",
    ]
    for case in every_case():
        share, width, n = covered(case, case.long_reps)
        error = 1.96 * (max(share * (1 - share), 1 / n) / n) ** 0.5
        name = f"*{case.method}*" if case.naive else case.method
        rows.append(f"| {name} | {case.situation} | {share:.3f} | {error:.3f} | {width:.3g} | {n} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows)


def main(path: Path) -> None:
    """Replace what stands between the markers; without markers the file is left alone."""
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path}: the coverage markers are missing")
    head, rest = text.split(BEGIN, 1)
    path.write_text(f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
