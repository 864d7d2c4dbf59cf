"""Lines that a working engine prints again and again: passed over many at a time, once it is known whose they are."""

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from analysis.sources.boot_match import repeated, step_shape
from analysis.sources.boot_split import Boot, Splitter
from analysis.sources.boot_steps import Steps
from analysis.sources.log_blocks import RARE, Block
from analysis.sources.log_lines import SAME_SERVICE, front, name_services

MAX_TOLD = 1_000
"""Most pairs of process and shape of a boot whose repeats are passed over; others are looked at one by one."""
MAX_WORKING = 16
"""Most services whose repeats are told apart at a time; those of others are looked at one by one."""
FIRST_LINES = 32
_PROCESS = r'pid=[0-9]{1,10}|Engine [0-9]{3}: |"process(?:Name)?": ?[^,}]{1,80}'
_RANKS = r"((?: [A-Z]{2,4}[0-9]{1,6}){1,6}\])"
"""What a line says of the process that wrote it, or that it is about; for an engine without lookahead."""
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


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
        self._bare: tuple[Block, Flags] | None = None
        self._spoken: tuple[Block, Numbers] | None = None
        self._numbers = {"": 0}

    def note(self, mark: int, boot: Boot | None, service: str | None, text: str, once: Container[str]) -> None:
        """After a look at a line. One that is not a mere repeat may change every boot that it is about.

        `once` are the literals of what it says that is kept once.
        """
        if mark == RARE or service == SAME_SERVICE:
            self._working = []
        elif boot is not None:
            process = self._number("".join([*re.findall(_PROCESS, text), *re.findall(_RANKS, text)[:1]]))
            if repeated()[mark] in once and process < MAX_TOLD and len(boot.once) < MAX_TOLD:
                boot.once.add(_told(mark, process))
            begins = front(text, service) if service else None
            if begins or not service:
                others = [w for w in self._working if w.front != begins and (w.boot is boot or w.service != service)]
                self._working = [*others[1 - MAX_WORKING :], _Working(boot, service, begins)]

    def skip(self, block: Block, at: int) -> int:
        """The place of the next line from `at` that needs a look; of those before it, their boots are told.

        Takes ever longer runs at once, so that its time grows with what is skipped, not with what is there.
        """
        many = FIRST_LINES
        while self._working and at < len(block.marks) and block.marks[at] != RARE:
            speakers = self._speakers(block, at, many)
            stop = int(np.argmin(speakers)) if speakers.min() < 0 else len(speakers)
            self._tell(block, at, speakers[:stop])
            at += stop
            if stop < len(speakers):
                break
            many *= 2
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
            unnamed = self._unnamed(block)[at : at + many]
            speakers[unnamed & self._known(self._working[bare].boot, block, at, many) & ~others] = bare
        return speakers

    def _unnamed(self, block: Block) -> Flags:
        """By line of the block whether it names no service, found once: a search costs more than the lines of a run."""
        if self._bare is None or self._bare[0] is not block:
            self._bare = block, np.logical_not(name_services(block.texts).to_numpy())
        return self._bare[1]

    def _known(self, boot: Boot, block: Block, at: int, many: int) -> Flags:
        """For each of the lines whether it says nothing new of the boot: a step, or what its process has told before.

        The first step needs a look: it shows that the boot served.
        """
        marks = block.marks[at : at + many]
        known = _step_marks()[marks] if "step" in boot.purposes else np.zeros(len(marks), dtype=np.bool_)
        if boot.once:
            told = _told(marks.astype(np.int64), self._processes(block)[at : at + many])
            known = known | np.isin(told, list(boot.once))
        return known

    def _processes(self, block: Block) -> Numbers:
        """By line of the block the number of what it says of its process, found once; steps say it themselves."""
        if self._spoken is None or self._spoken[0] is not block:
            numbers = np.zeros(len(block.texts), dtype=np.int64)
            steps = _step_marks()[block.marks]
            places = np.flatnonzero(~steps)
            texts = block.texts.gather(places) if steps.any() else block.texts
            said = texts.str.extract_all(_PROCESS).list.join("")
            if texts.str.contains(_RANKS).any():
                said = said + texts.str.extract(_RANKS).fill_null("")
            known = {process: self._number(process) for process in said.unique()}
            numbers[places] = said.replace_strict(known, return_dtype=pl.Int64).to_numpy()
            self._spoken = block, numbers
        return self._spoken[1]

    def _number(self, process: str) -> int:
        """A number for what lines say of a process: 0 for nothing, MAX_TOLD for those beyond so many."""
        if process not in self._numbers and len(self._numbers) >= MAX_TOLD:
            return MAX_TOLD
        return self._numbers.setdefault(process, len(self._numbers))

    def _tell(self, block: Block, at: int, speakers: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        for place in np.unique(speakers):
            boot = self._working[place].boot
            lines = at + np.flatnonzero(speakers == place)
            is_step = _step_marks()[block.marks[lines]]
            steps, others = lines[is_step], lines[~is_step]
            if len(others):
                boot.last_line = max(boot.last_line, block.first + int(block.places[others[-1]]))
            if len(steps):
                texts = block.texts.gather(steps).str.strip_chars_end("\r")
                self._steps.add(boot, (block.first + block.places[steps]).tolist(), texts.to_list())
            self._boots.service = self._working[speakers[-1]].service


def _told(mark: int | Numbers, process: int | Numbers) -> Any:
    """One number for both; RARE, -1, is before all."""
    return mark * (MAX_TOLD + 1) + process


@cache
def _step_marks() -> Flags:
    return np.array([*(mark in step_shape().literals for mark in repeated()), False])
