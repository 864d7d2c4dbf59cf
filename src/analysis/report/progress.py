"""How far a long step is: a bar on a terminal, plain lines elsewhere."""

import sys
from types import TracebackType
from typing import Any, Protocol, TextIO

from tqdm import tqdm


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

    def start(self, total: int, what: str) -> None:
        """Begin a step of `total` parts."""
        self.finish()
        self._total, self._done = total, 0
        if self._stream.isatty():
            self._bar = tqdm(total=total, desc=what, file=self._stream, leave=False, dynamic_ncols=True, mininterval=0)
        else:
            self._say(f"{what} ...")

    def advance(self, what: str) -> None:
        """Say that one part, named, is done."""
        self._done += 1
        if self._bar is None:
            self._say(f"  [{self._done}/{self._total}] {what}")
        else:
            self._bar.set_postfix_str(what, refresh=False)
            self._bar.update(1)

    def finish(self) -> None:
        """End the step, done or not; safe to call twice."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _say(self, line: str) -> None:
        print(line, file=self._stream, flush=True)

    def __enter__(self) -> "TerminalProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
