"""Which process a line is from or about: a number for each, told for many lines at once."""

import re

import numpy as np
import polars as pl

from analysis.sources.log_blocks import Numbers

MAX_TOLD = 1_000
"""Most processes that are told apart; those beyond have one number together."""
MOST_AT_ONCE = 16
"""Where more processes speak in a block, asking for each is slower than reading every line."""
SILENT = 0
"""The number of no process."""
# For an engine without lookahead.
_NAMED = r"(?:\([A-Za-z][A-Za-z0-9_:-]{0,80}(?: rank=[0-9]{1,6})? )?pid=[0-9]{1,10}"
_PROCESS = rf'{_NAMED}(?:, ip=[^)\s]{{1,60}})?|Engine [0-9]{{3}}: |"process(?:Name)?": ?[^,}}]{{1,80}}'
_RANKS = r"((?: [A-Z]{2,4}[0-9]{1,6}){1,6}\])"
# The same in a line without its digits: each of the two at most once, or anything else.
_PID, _ENGINE, _OTHER = "pid=", "Engine : ", r'"process| [A-Z]{2,4}\]|, ip='
_WHOLE = re.compile(rf"{_NAMED}[^0-9]|Engine [0-9]{{3}}: ")
"""A process with what ends its number, so that no longer number has the same beginning."""
_PID_ONCE, _ENGINE_ONCE, _ANYHOW = 1, 2, 4
_PARTS = {_PID_ONCE: 1, _ENGINE_ONCE: 1, _PID_ONCE + _ENGINE_ONCE: 2}


class Processes:
    """The processes met so far in a file."""

    def __init__(self) -> None:
        self._numbers = {"": SILENT}

    def number(self, line: str) -> int:
        """The number of what one line says of its process."""
        return self._number("".join([*sorted(re.findall(_PROCESS, line)), *re.findall(_RANKS, line)[:1]]))

    def numbers(self, lines: pl.Series, kinds: pl.Series, kind: Numbers) -> Numbers:
        """The number for each line; the `kind` of each is its place in `kinds`, the distinct lines without digits."""
        numbers = np.full(len(lines), SILENT, dtype=np.int64)
        forms = _forms(kinds)[kind]
        for form, parts in _PARTS.items():
            places = np.flatnonzero(forms == form)
            if len(places):
                numbers[places] = self._asked(lines.gather(places), parts)
        places = np.flatnonzero(forms == _ANYHOW)
        if len(places):
            numbers[places] = self._read(lines.gather(places))
        return numbers

    def _asked(self, lines: pl.Series, parts: int) -> Numbers:
        """Of lines alike in form: who wrote the first one that is left, and which others the same wrote, and so on."""
        numbers, left = np.zeros(len(lines), dtype=np.int64), np.arange(len(lines))
        while len(left):
            mine = lines.gather(left)
            said = _WHOLE.findall(mine[0])
            same = np.logical_and.reduce([mine.str.contains(part, literal=True).to_numpy() for part in said])
            if len(said) != parts or np.sum(same) * MOST_AT_ONCE < len(left):
                numbers[left] = self._read(mine)
                break
            numbers[left[same]] = self.number(mine[0])
            left = left[~same]
        return numbers

    def _read(self, lines: pl.Series) -> Numbers:
        said = lines.str.extract_all(_PROCESS).list.join("") + lines.str.extract(_RANKS).fill_null("")
        firsts = pl.DataFrame({"said": said, "line": lines}).unique("said", keep="first", maintain_order=True)
        known = {process: self.number(line) for process, line in firsts.iter_rows()}
        return said.replace_strict(known, return_dtype=pl.Int64).to_numpy()

    def _number(self, process: str) -> int:
        if process not in self._numbers and len(self._numbers) >= MAX_TOLD:
            return MAX_TOLD
        return self._numbers.setdefault(process, len(self._numbers))


def _forms(kinds: pl.Series) -> Numbers:
    """By kind of line how it may name its process."""
    pids, engines = (kinds.str.count_matches(said, literal=True).to_numpy() for said in (_PID, _ENGINE))
    anyhow = kinds.str.contains(_OTHER).to_numpy() | (pids > 1) | (engines > 1)
    return np.where(anyhow, _ANYHOW, pids * _PID_ONCE + engines * _ENGINE_ONCE).astype(np.int64)
