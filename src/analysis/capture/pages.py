"""Scraping several servers for a while: a page at each tick, restarts marked, errors kept, a clean end."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analysis.capture.folder import CaptureError, Folder, stamp
from analysis.capture.scrape import NoPageError, Scraped, Target, scrape

TIMEOUT_S = 10.0
"""Longest wait for a whole page; never longer than the time between two."""


@dataclass(slots=True)
class Tally:
    """What became of one target: pages kept, ticks without a page, restarts seen, and what was last wrong."""

    target: Target
    pages: int = 0
    failures: int = 0
    restarts: int = 0
    wrong: str = ""
    repeated: int = 0
    last: Scraped | None = field(default=None, repr=False)


def capture(
    urls: Sequence[str], folder: Path, every_s: float, for_s: float | None, stop: threading.Event,
    say: Callable[[str], None] = lambda text: None,
) -> list[Tally]:  # fmt: skip
    """Write a page of each URL at once and every `every_s` seconds, for `for_s` (None: until `stop` is set).

    metrics/<host-port>/<time>.prom, errors.txt where anything went wrong, and study.toml where there is none. Raises
    CaptureError before the first page when it cannot begin; nothing that is there is overwritten.
    """
    if not every_s >= 0.1 or (for_s is not None and not for_s >= 0):
        raise CaptureError("EVERY is at least 0.1s, and FOR is not negative")
    targets = [Target.of(url) for url in urls]
    if not targets or len({target.name for target in targets}) < len(targets):
        raise CaptureError("URL names at least one server, and each only once")
    into = Folder(folder)
    into.begin({"urls": " ".join(target.url for target in targets), "every": f"{every_s:g} s"})
    say(f"writing into {folder}, every {every_s:g} s; Ctrl-C ends it")
    tallies = [Tally(target) for target in targets]
    begun = time.monotonic()
    threads = [
        threading.Thread(target=_run, args=(tally, into, every_s, for_s, begun, stop, say), daemon=True)
        for tally in tallies
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            # In short waits: a signal's handler runs between them.
            thread.join(0.2)
    return tallies


def _run(
    tally: Tally, into: Folder, every_s: float, for_s: float | None, begun: float, stop: threading.Event,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """Scrape one target at every tick; ticks that a slow answer missed are passed over, not made up for."""
    tick = 0
    while not stop.is_set():
        try:
            _tick(tally, into, min(TIMEOUT_S, every_s), stop, say)
        except OSError as error:
            _failed(tally, into, f"the page could not be written ({error.strerror or error})", say)
        tick = max(tick + 1, int((time.monotonic() - begun) / every_s) + 1)
        if for_s is not None and tick * every_s > for_s + 1e-9:
            break
        stop.wait(max(0.0, begun + tick * every_s - time.monotonic()))
    if tally.repeated:
        into.note(tally.target.name, f"the same {tally.repeated} times more")


def _tick(tally: Tally, into: Folder, timeout_s: float, stop: threading.Event, say: Callable[[str], None]) -> None:
    try:
        page = scrape(tally.target, timeout_s, stop.is_set)
    except NoPageError as wrong:
        if not stop.is_set():
            _failed(tally, into, str(wrong), say)
        return
    if tally.last is not None and (why := page.restarted_since(tally.last)):
        tally.restarts += 1
        into.note(tally.target.name, f"restart: {why}")
        say(f"{tally.target.name}: restart ({why})")
    into.write(f"metrics/{tally.target.name}/{stamp(page.at)}.prom", page.data)
    if tally.wrong:
        into.note(tally.target.name, f"pages again, after {tally.repeated + 1} times without")
    tally.pages, tally.last, tally.wrong, tally.repeated = tally.pages + 1, page, "", 0


def _failed(tally: Tally, into: Folder, what: str, say: Callable[[str], None]) -> None:
    """Note what went wrong; the same again is counted, not repeated."""
    tally.failures += 1
    if what == tally.wrong:
        tally.repeated += 1
        return
    tally.wrong, tally.repeated = what, 0
    say(f"{tally.target.name}: {what}")
    try:
        into.note(tally.target.name, what)
    except OSError as error:
        say(f"errors.txt could not be written ({error.strerror or error})")
