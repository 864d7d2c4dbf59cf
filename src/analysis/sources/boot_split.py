"""Several boots in one file: restart loops and sweeps follow one another, services of one compose file interleave."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace

from analysis.sources.boot_match import Match
from analysis.sources.log_lines import SAME_SERVICE
from analysis.sources.log_origin import origin

MAX_MATCHES = 20_000
"""Most lines kept of one boot: a log that repeats itself must not fill the memory."""
_SIZING = frozenset(("memory", "pool"))
_ENDING = frozenset(("refusal", "crash"))
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Boot:
    """The known lines of one start of one engine, in file order."""

    service: str | None
    first_line: int
    last_line: int
    matches: list[Match] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    told: set[tuple[str, Hashable]] = field(default_factory=set)
    purposes: set[str] = field(default_factory=set)
    once: set[int] = field(default_factory=set)
    """Which process has told what is kept once (boot_repeats.py)."""
    stepped: set[int] = field(default_factory=set)
    """The data-parallel engines whose steps the log tells."""
    speakers: set[str] = field(default_factory=set)
    """The processes that log steps."""
    passed: str = ""
    """What stands before the last line that was passed over since the last one that was kept: it tells the time."""
    closed: bool = False
    dropped: int = 0

    def take(self, match: Match) -> None:
        """Add a line; repeats of a fallback, and by one process of a shape that is kept once, only extend the boot."""
        self.last_line = max(self.last_line, match.number)
        if self.passed and match.origin.stamp is None:
            match = replace(match, origin=replace(match.origin, stamp=origin(self.passed).stamp))
        shape, where = match.shape, match.origin
        who: Hashable = (where.process, *where.place)
        if shape.purpose == "fallback":
            who = _DIGITS.sub("#", match.text[-200:])
        known = (shape.id, who) in self.told
        if len(self.told) < MAX_MATCHES:
            self.told.add((shape.id, who))
            self.seen.add((shape.id, where.process))
        self.purposes.add(shape.purpose)
        self.closed = self.closed or shape.closes
        if known and (shape.once or shape.purpose == "fallback"):
            self.passed = match.before if where.stamp else self.passed
            return
        self.passed = ""
        if len(self.matches) >= MAX_MATCHES:
            self.dropped += 1
            return
        self.matches.append(match)

    def ends_before(self, match: Match) -> bool:
        """Whether `match` belongs to a later boot.

        A start line begins one when the same process has printed it already in this boot, or when this boot has been
        ready, refused or crashed; but another data-parallel engine may still start after the first one has failed.
        A memory or pool line that a process prints again after the boot was over begins one too: excerpts often keep
        nothing else.
        """
        key = (match.shape.id, match.origin.process)
        over = "ready" in self.purposes or bool(self.purposes & _ENDING)
        if match.number == self.last_line:
            return False
        if self.closed:
            return True
        if match.shape.purpose == "start":
            if match.shape.id == "engine_init" and match.origin.engine is not None and key not in self.seen:
                return over and not any(process.startswith("EngineCore") for _, process in self.seen)
            return key in self.seen or over
        return match.shape.purpose in _SIZING and over and key in self.seen


class Splitter:
    """Sorts the known lines of one file into boots, service by service."""

    def __init__(self) -> None:
        self.open: dict[str | None, Boot] = {}
        self.done: list[Boot] = []
        self.service: str | None = None

    def take(self, match: Match, service: str | None) -> Boot:
        """Put one line where it belongs, and return the boot it went to."""
        self.service = service = self.service if service == SAME_SERVICE else service
        boot = self.open.get(service)
        if boot is None or boot.ends_before(match):
            boot = self.open[service] = Boot(service, match.number, match.number)
            self.done.append(boot)
        boot.take(match)
        return boot

    def named(self, stem: str) -> Iterator[tuple[str, int, Boot]]:
        """Id, ordinal from 0, and boot, in order of appearance: stem, stem#k, stem#service, stem#service#k.

        Only services that started an engine count; what others said about one (a proxy, a client) is no boot.
        """
        boots = [boot for boot in self.done if boot.purposes - {"fallback", "traceback", "shutdown"}]
        totals = Counter(boot.service for boot in boots)
        counts: Counter[str | None] = Counter()
        for ordinal, boot in enumerate(boots):
            counts[boot.service] += 1
            name = f"{stem}#{boot.service or 'unnamed'}" if len(totals) > 1 else stem
            yield (f"{name}#{counts[boot.service]}" if totals[boot.service] > 1 else name), ordinal, boot
