"""Intervals cover what docs/methods.md says they cover, and the tempting wrong methods do not."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from coverage_cases import Case, page_cases, quantile_cases, request_cases, scrape_cases, share_cases
from coverage_cases_lengths import length_cases, step_time_cases
from coverage_cases_runs import arm_cases, boot_cases, rate_cases, tail_cases

SIGMAS = 3.5


def every_case() -> Iterator[Case]:
    return chain(
        page_cases(), scrape_cases(), request_cases(), quantile_cases(), share_cases(), boot_cases(), arm_cases(),
        rate_cases(), tail_cases(), length_cases(), step_time_cases(),
    )  # fmt: skip


def covered(case: Case, reps: int) -> tuple[float, float, int]:
    """Share of studies whose interval held the truth, median width, and the number of intervals given."""
    rng = np.random.default_rng(crc32(f"{case.method}|{case.situation}".encode()))
    hits, widths = [], []
    for _ in range(reps):
        interval, truth = case.draw(rng)
        if interval is not None:
            hits.append(interval[0] <= truth <= interval[1])
            widths.append(interval[1] - interval[0])
    return float(np.mean(hits)), float(np.median(widths)), len(hits)


def test_the_published_table_is_of_these_cases_and_within_their_claims() -> None:
    text = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    table = text.split("<!-- coverage: begin")[1].split("<!-- coverage: end -->")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.count("|") == 7
    ]
    found = {(row[0].strip("*"), row[1]): (float(row[2]), float(row[3])) for row in rows if row[2][:1].isdecimal()}
    assert set(found) == {(c.method, c.situation) for c in every_case()}, "run make coverage"
    for case in every_case():
        share, error = found[case.method, case.situation]
        assert case.least - 1.5 * error <= share <= case.most + 1.5 * error, f"{case.method}: {case.situation}"


@pytest.mark.parametrize("case", [c for c in every_case() if c.reps], ids=lambda c: f"{c.method}: {c.situation}")
def test_coverage(case: Case) -> None:
    share, _, n = covered(case, case.reps)
    assert n >= 0.9 * case.reps, "the method refused data that it should take"
    error = SIGMAS * np.sqrt(max(share * (1 - share), 0.02) / n)
    assert share >= case.least - error
    assert share <= case.most + error
