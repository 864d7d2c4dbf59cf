"""Processes are told for many lines at once as they are for each, and with few searches."""

from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.sources.boot_processes import SILENT, Processes
from analysis.sources.log_blocks import numberless

PARTS = (
    "pid=7", "pid=77)", "(APIServer pid=7) ", "(APIServer_0 pid=7) ",
    "(Worker rank=1 pid=7, ip=10.0.0.1)", "(A pid=7, ip=", "pid=", "pid=12345678901)", "pid=1234567890", "Engine 000: ",
    "Engine 001: ", "Engine 12: ", "Engine 0001: ", "Engine : ", " DP0 TP1]", " TP1]", "TP1]", " TP]", " DP0",
    '"process": 7, ', '"processName": "EngineCore_DP1"}', "process", " 7", ") ", "\n", "Avg", "é",
)  # fmt: skip


def _numbers(processes: Processes, lines: list[str]) -> list[int]:
    column = pl.Series(lines, dtype=pl.String)
    without = pl.Series([numberless(line) for line in lines], dtype=pl.String)
    kinds = without.unique(maintain_order=True)
    places = {kind: place for place, kind in enumerate(kinds)}
    return processes.numbers(column, kinds, pl.Series([places[kind] for kind in without]).to_numpy()).tolist()


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=5).map("".join), min_size=1, max_size=40))
def test_many_lines_have_the_numbers_that_each_has_alone(lines: list[str]) -> None:
    processes = Processes()
    assert _numbers(processes, lines) == [processes.number(line) for line in lines]


def test_lines_are_told_apart_by_all_that_they_say_of_a_process() -> None:
    lines = [
        "(A pid=7) x", "(A pid=77) x", "(A pid=7) y 3", "(A pid=7) Engine 000: z", "(A pid=7) Engine 001: z", "no 7",
        "[12:00 DP0 TP0] w", "[13:00 DP0 TP1] w", "[14:00 DP0 TP0] v",
    ]  # fmt: skip
    numbers = _numbers(Processes(), lines)
    assert numbers[5] == SILENT
    assert numbers[0] == numbers[2]
    assert numbers[6] == numbers[8]
    assert len(set(numbers)) == 7
    assert len(set(_numbers(Processes(), ["(A pid=7) x", "(A_0 pid=7) x", "(A rank=0 pid=7) x", "pid=7 x"]))) == 4


@pytest.mark.parametrize("pids", [1, 5, 200])
def test_one_line_of_each_process_is_read(pids: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    number = Processes.number
    monkeypatch.setattr(Processes, "number", lambda self, line: asked.append(line) or number(self, line))
    lines = [f"(APIServer pid={1000 + at % pids}) Avg {at}" for at in range(4_000)]
    numbers = _numbers(Processes(), lines)
    assert len(asked) == pids
    assert len(set(numbers)) == pids
    assert all(a != b for a, b in pairwise(numbers[:pids]))
