"""How far a long step is: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Protocol, TextIO

from tqdm import tqdm

from analysis.store.load import Done

_TOLD_FROM_S = 1.0
"""Times are told of what takes longer than this."""


class Progress(Protocol):
    """What the build says while it works."""

    def start(self, total: int, what: str) -> None:
        """Begin a step of `total` parts."""

    def advance(self, what: str) -> None:
        """Say that one part, named, is done."""

    def finish(self) -> None:
        """End the step, done or not; safe to call twice."""


class TerminalProgress:
    """Progress on a stream (standard error by default): a tqdm bar on a terminal, a line a part elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._bar: Any = None
        self._total = self._done = 0
        self._began_s = 0.0

    def start(self, total: int, what: str) -> None:
        """Begin a step of `total` parts."""
        self.finish()
        self._total, self._done, self._began_s = total, 0, time.monotonic()
        if self._stream.isatty():
            self._bar = tqdm(total=total, desc=what, file=self._stream, leave=False, dynamic_ncols=True, mininterval=0)
        else:
            self._say(f"{what} ...")

    def advance(self, what: str) -> None:
        """Say that one part, named, is done."""
        self._done += 1
        if self._bar is None:
            self._say(f"  [{self._done}/{self._total}] {what}{self._times()}")
        else:
            self._bar.set_postfix_str(what, refresh=False)
            self._bar.update(1)

    def finish(self) -> None:
        """End the step, done or not; safe to call twice."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _times(self) -> str:
        took_s = time.monotonic() - self._began_s
        if took_s < _TOLD_FROM_S:
            return ""
        left_s = took_s / self._done * (self._total - self._done)
        return f" ({took_s:,.0f} s" + (f", about {left_s:,.0f} s left)" if left_s else ")")

    def _say(self, line: str) -> None:
        print(line, file=self._stream, flush=True)

    def __enter__(self) -> "TerminalProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()


class Reading:
    """Tells how far the reading of a study is: to be called by the loader, and once when it has ended."""

    STEPS = 5
    """Enough to see it move, few enough for a log."""

    def __init__(self, progress: Progress, study: str) -> None:
        self._progress, self._study = progress, study
        self._began_s = time.monotonic()
        self._said = 0
        self._last: Done | None = None

    def __call__(self, done: Done) -> None:
        """Say how far it is, when it is a step further; the rate, and by that the time left, go by bytes.

        An empty folder has nothing to wait for: the error that follows says all.
        """
        if not done.of_files:
            return
        if self._last is None:
            self._progress.start(self.STEPS, f"read {self._study} ({done.of_files:,} files)")
        self._last = done
        share = done.bytes / done.of_bytes if done.of_bytes else 1.0
        while self._said < int(self.STEPS * share):
            self._said += 1
            self._progress.advance(f"{done.files:,} of {done.of_files:,} files, {self._rate(done)}")

    def summary(self) -> str | None:
        """One line on what was read and how fast; None when nothing was."""
        if self._last is None:
            return None
        return f"read {self._study}: {self._last.files:,} files, {self._rate(self._last)}, {self._took_s():,.1f} s"

    def _rate(self, done: Done) -> str:
        took_s = self._took_s()
        samples = f"{done.samples:,} samples ({done.samples / took_s:,.0f}/s), " if done.samples else ""
        return f"{samples}{done.bytes / 1e6:,.1f} MB ({done.bytes / 1e6 / took_s:,.1f} MB/s)"

    def _took_s(self) -> float:
        return max(time.monotonic() - self._began_s, 1e-6)
