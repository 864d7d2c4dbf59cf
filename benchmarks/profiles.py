"""Where the time of a run goes: the functions of ours that most of it is spent in, or in the libraries they call."""

import signal
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from analysis import paths
from benchmarks.pairs import Run

SHOWN = 4
EVERY_S = 0.001
LEAST_S = 1.0
"""CPU seconds that a profile is made of, in whole runs: shares are good to a few points."""


def hot_spots(run: Run) -> list[tuple[str, float]]:
    """The functions of the project with the largest shares of a run: name and share, largest first.

    A timer of CPU time interrupts; what has passed since the last time counts for the innermost function of ours,
    whichever library it is in. One long call of a library is interrupted once, when it ends, and counts whole.
    """
    spent: Counter[str] = Counter()
    last = time.process_time()

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        spent[_ours(frame)] += now - last  # type: ignore[assignment]  # seconds are counted
        last = now

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        while spent.total() < LEAST_S:
            run()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return [(name, seconds / spent.total()) for name, seconds in spent.most_common(SHOWN)]


def _ours(frame: FrameType | None) -> str:
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(paths.PACKAGE):
            return f"{file.stem}.{frame.f_code.co_qualname.removesuffix('.<locals>')}"
        frame = frame.f_back
    return "elsewhere"
