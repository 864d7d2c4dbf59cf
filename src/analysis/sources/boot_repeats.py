"""Lines that a working engine prints again and again: passed over many at a time, once it is known whose they are."""

from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from analysis.sources import boot_processes
from analysis.sources.boot_match import repeated, step_shape
from analysis.sources.boot_processes import Processes
from analysis.sources.boot_split import Boot, Splitter
from analysis.sources.boot_steps import Steps
from analysis.sources.log_blocks import RARE, Block, Numbers
from analysis.sources.log_lines import SAME_SERVICE, front, may_name_services, name_services

MAX_PAIRS = 1_000
"""Most pairs of process and shape of a boot whose repeats are passed over; others are looked at one by one."""
MAX_WORKING = 16
"""Most services whose repeats are told apart at a time; those of others are looked at one by one."""
FIRST_LINES = 32
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class _Working:
    """An engine at work and the pattern at which its lines begin; without a service it is those that name none."""

    boot: Boot
    service: str | None
    front: str | None


class Repeats:
    """Which engines of a file are at work now, and what they repeat."""

    def __init__(self, boots: Splitter, steps: Steps) -> None:
        self._boots, self._steps = boots, steps
        self._working: list[_Working] = []
        self._processes = Processes()
        self._many = FIRST_LINES
        self._block: tuple[Block, Flags, Numbers] | None = None

    def note(self, mark: int, boot: Boot | None, service: str | None, text: str, once: Container[str]) -> None:
        """After a look at a line. One that is not a mere repeat may change every boot that it is about.

        `once` are the literals of what it says that is kept once.
        """
        if mark == RARE or service == SAME_SERVICE:
            self._working = []
        elif boot is not None:
            process = self._processes.number(text)
            if repeated()[mark] in once and process < boot_processes.MAX_TOLD and len(boot.once) < MAX_PAIRS:
                boot.once.add(_told(mark, process))
            begins = front(text, service) if service else None
            if begins or not service:
                others = [w for w in self._working if w.front != begins and (w.boot is boot or w.service != service)]
                self._working = [*others[1 - MAX_WORKING :], _Working(boot, service, begins)]

    def skip(self, block: Block, at: int) -> int:
        """The place of the next line from `at` that needs a look; of those before it, their boots are told.

        Takes ever longer runs at once, begun with as many as could be skipped before, so that its time grows with what
        is skipped, not with what is there.
        """
        while self._working and at < len(block.marks) and block.marks[at] != RARE:
            speakers = self._speakers(block, at, self._many)
            stop = int(np.argmin(speakers)) if speakers.min() < 0 else len(speakers)
            self._tell(block, at, speakers[:stop])
            at += stop
            if stop < len(speakers):
                self._many = max(FIRST_LINES, stop)
                break
            self._many *= 2
        return at

    def _speakers(self, block: Block, at: int, many: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """For each of the lines the place in `_working` of the engine that repeats itself there, or -1."""
        marks = block.marks[at : at + many]
        speakers = np.full(len(marks), -1)
        others = np.zeros(len(marks), dtype=np.bool_)
        bare = None
        for place, engine in enumerate(self._working):
            if engine.front is None:
                bare = place
                continue
            begins = block.texts.slice(at, many).str.contains(engine.front).to_numpy()
            speakers[begins & self._known(engine.boot, block, at, many) & ~others] = place
            others = others | begins
        if bare is not None:
            unnamed = self._said(block)[0][at : at + many]
            speakers[unnamed & self._known(self._working[bare].boot, block, at, many) & ~others] = bare
        return speakers

    def _said(self, block: Block) -> tuple[Flags, Numbers]:
        """By line of the block whether it names no service, and its process; found once, a run has too few lines."""
        if self._block is None or self._block[0] is not block:
            unnamed = np.ones(len(block.texts), dtype=np.bool_)
            may = np.flatnonzero(may_name_services(block.kinds).to_numpy()[block.kind])
            unnamed[may] = ~name_services(block.texts.gather(may)).to_numpy()
            numbers = np.full(len(block.texts), boot_processes.SILENT, dtype=np.int64)
            others = np.flatnonzero(~_step_marks()[block.marks])  # a step says nothing that is kept once
            numbers[others] = self._processes.numbers(block.texts.gather(others), block.kinds, block.kind[others])
            self._block = block, unnamed, numbers
        return self._block[1:]

    def _known(self, boot: Boot, block: Block, at: int, many: int) -> Flags:
        """For each of the lines whether it says nothing new of the boot: a step, or what its process has told before.

        The first step needs a look: it shows that the boot served.
        """
        marks = block.marks[at : at + many]
        known = _step_marks()[marks] if "step" in boot.purposes else np.zeros(len(marks), dtype=np.bool_)
        if boot.once:
            told = _told(marks.astype(np.int64), self._said(block)[1][at : at + many])
            known = known | np.isin(told, list(boot.once))
        return known

    def _tell(self, block: Block, at: int, speakers: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        for place in np.unique(speakers):
            boot = self._working[place].boot
            lines = at + np.flatnonzero(speakers == place)
            last = int(lines[-1])
            boot.passed = block.texts[last].partition(repeated()[block.marks[last]])[0]
            is_step = _step_marks()[block.marks[lines]]
            steps, others = lines[is_step], lines[~is_step]
            if len(others):
                boot.last_line = max(boot.last_line, block.first + int(block.places[others[-1]]))
            if len(steps):
                texts = block.texts.gather(steps).str.strip_chars_end("\r\n")
                self._steps.add(boot, (block.first + block.places[steps]).tolist(), texts.to_list())
            self._boots.service = self._working[speakers[-1]].service


def _told(mark: int | Numbers, process: int | Numbers) -> Any:
    """One number for both; RARE, -1, is before all."""
    return mark * (boot_processes.MAX_TOLD + 1) + process


@cache
def _step_marks() -> Flags:
    return np.array([*(mark in step_shape().literals for mark in repeated()), False])
