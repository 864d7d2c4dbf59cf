"""Whether hostile texts are read in time by their length, whatever the machine."""

import time
from collections.abc import Callable


def reads_by_length(read: Callable[[str], object], text_of: Callable[[int], str], longest: int) -> bool:
    """Whether a quarter of the text takes a quarter of the time; what goes over it again and again takes a sixteenth.

    `text_of` makes a text of about so many characters.
    """
    return _least(read, text_of(longest)) < 10 * max(_least(read, text_of(longest // 4)), 0.01)


def _least(read: Callable[[str], object], text: str) -> float:
    # Another text each time: some results are kept.
    return min(_seconds(read, text + " " * again) for again in range(3))


def _seconds(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    read(text)
    return time.process_time() - start
