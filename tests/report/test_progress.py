"""Progress: lines where nobody watches, a bar on a terminal."""

import io

from analysis.report.progress import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines() -> None:
    stream = io.StringIO()
    with TerminalProgress(stream) as progress:
        progress.start(2, "report study")
        progress.advance("10-inventory")
        progress.advance("pages written")
    assert stream.getvalue() == "report study ...\n  [1/2] 10-inventory\n  [2/2] pages written\n"


def test_a_bar_that_goes_away() -> None:
    stream = Terminal()
    progress = TerminalProgress(stream)
    progress.start(2, "report study")
    progress.advance("10-inventory")
    progress.finish()
    progress.finish()
    assert "report study" in stream.getvalue() and "1/2" in stream.getvalue()
    assert stream.getvalue().endswith("\r")
