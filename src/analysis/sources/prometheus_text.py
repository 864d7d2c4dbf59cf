"""Metric pages as text: Prometheus 0.0.4, OpenMetrics, concatenated pages, promtool dumps, pages in a JSON string."""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.prometheus_line import DECLARED, SCRAPED_AT, parse_sample
from analysis.sources.prometheus_pages import MAX_SERIES, MAX_UNPARSED, Samples, parse_time
from analysis.sources.prometheus_scrapes import Scrapes, reading
from analysis.sources.reading import Reading, Unparsed, cut

MAX_JSON_PAGE_BYTES = 64 << 20
"""Largest page that comes as one JSON string (it is held in memory whole)."""

_TYPE = re.compile(
    r"#[ \t]*(?:HELP[ \t]+\S|TYPE[ \t]+\S+[ \t]+"
    r"(?:counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram)\b)"
)
_TELLING = re.compile(r"[a-zA-Z0-9_]:[a-z]|\{")
_JSON_PAGE = re.compile(r'\s*"(?:\\n)*# (?:HELP|TYPE) ')


def recognise(head: str, name: str) -> bool:
    """Whether a file's beginning is a metric page: nearly every line a comment or a sample, and one that tells.

    Half of the lines are enough where families are declared: a damaged page is still a page.
    """
    if _JSON_PAGE.match(head):
        return True
    lines = [line for line in head.splitlines()[:200] if line.strip()]
    if len(lines) > 1 and not head.endswith("\n"):
        lines.pop()
    known = sum(line.startswith("#") or parse_sample(line) is not None for line in lines)
    if any(_TYPE.match(line) for line in lines):
        return known >= 0.5 * len(lines)
    return known >= 0.8 * len(lines) and any(_TELLING.search(line) and parse_sample(line) for line in lines)


def read(file: SourceFile) -> Reading:
    """The pages and samples of a file; plain pages at once, others line by line.

    Raises UnreadableFileError beyond MAX_SERIES or MAX_SAMPLES.
    """
    scrapes = Scrapes()
    plain = scrapes.read(file)
    return reading(file, plain, scrapes.words) if plain else read_carefully(file)


def read_carefully(file: SourceFile) -> Reading:
    """As `read`, always line by line; lines that are neither sample nor comment are unparsed."""
    reading = Reading("metrics", "prometheus-text")
    splitter = _Splitter(Samples(file), reading)
    unparsed = 0
    for number, line in _lines(file, reading):
        what = splitter.comment(line) if line.lstrip()[:1] == "#" else splitter.sample(number, line)
        if what:
            unparsed += 1
            if unparsed <= MAX_UNPARSED:
                reading.unparsed.append(Unparsed(number, what, cut(line.strip())))
    splitter.samples.into(reading)
    if unparsed > MAX_UNPARSED:
        file.trouble(f"{unparsed:,} lines are not understood, of which the first {MAX_UNPARSED:,} are listed")
    reading.message = "; ".join(file.troubles) or None
    return reading


def _lines(file: SourceFile, reading: Reading) -> Iterator[tuple[int, str]]:
    lines = file.lines(keep_ends=True)
    first = next(lines, None)
    if first is None:
        return
    if _JSON_PAGE.match(first[1]):
        lines.close()  # type: ignore[attr-defined]
        reading.format = "prometheus-json-string"
        yield from _json_lines(file)
        return
    if "\r" in first[1].rstrip("\r\n"):
        lines.close()  # type: ignore[attr-defined]
        lines = file.lines(keep_ends=True, newline=None)
    else:
        yield first
    yield from lines


def _json_lines(file: SourceFile) -> Iterator[tuple[int, str]]:
    """The lines of a page that llama.cpp's server (builds about 7010 to 7100) sent as one JSON string (issue 17384)."""
    text = file.text(MAX_JSON_PAGE_BYTES)
    try:
        page = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableFileError(
            f"{file.path}: a metric page in a JSON string that is cut off; fetch it again"
        ) from None
    yield from enumerate(io.StringIO(page), 1)


@dataclass(slots=True)
class _Splitter:
    """Puts samples into pages: a page ends where a series it already has comes again."""

    samples: Samples
    reading: Reading
    block: int = 0
    seen: dict[int, int] = field(default_factory=dict)
    """Of each series of this page the place of its last sample."""
    declared: set[tuple[str, str]] = field(default_factory=set)
    again: set[tuple[str, str]] = field(default_factory=set)
    again_from: int | None = None
    """Number of samples read when a family was first declared again: where the next page may have begun."""
    ended: bool = False

    def comment(self, line: str) -> str | None:
        """Take note of a comment line; says what it seems to be when it does not parse."""
        if match := DECLARED.match(line.lstrip()):
            self._declare((match[1], match[2][:200]))
        elif line.strip() == "# EOF":
            self.reading.format = "openmetrics"
            self.ended = True
        elif match := SCRAPED_AT.match(line.lstrip()):
            self.ended = True
            at_s = parse_time(match[1])
            if at_s is None:
                return "time of a scrape"
            self._start_page_if_due()
            self.samples.block_at_s[self.block] = at_s
        return None

    def sample(self, number: int, line: str) -> str | None:
        """Add the sample on a line; says what the line seems to be when it is not one."""
        if not line.strip():
            return None
        if not line.endswith("\n"):
            return "incomplete last line"
        sample = parse_sample(line)
        if sample is None:
            return "metric sample"
        if line.lstrip()[0] == "{":
            self.reading.format = "promtool-dump"
        self._start_page_if_due()
        series = self.samples.number(sample.series)
        last = self.seen.get(series)
        # A dump repeats a series at other times, which is no new page.
        if last is not None and sample.at_s in (None, self.samples.at_s[last]) and not self._split(series):
            same = repr(self.samples.value[last]) == repr(sample.value)
            return None if same else "second value of a series on one page"
        self.seen[series] = len(self.samples.value)
        self.samples.add(series, self.block, number, sample.value, sample.at_s)
        return None

    def _declare(self, what: tuple[str, str]) -> None:
        if what in self.declared and self.again_from is None:
            self.again_from = len(self.samples.value)
        if self.again_from is not None:
            self.again.add(what)
        if len(self.declared) < MAX_SERIES:
            self.declared.add(what)

    def _start_page_if_due(self) -> None:
        if self.ended and self.seen:
            self._next_page({}, set())
        self.ended = False

    def _split(self, series: int) -> bool:
        """Begin a page: where families were declared again, or here when the page's first series comes again."""
        start = self.again_from
        if start is not None and self.seen[series] < start:
            self._next_page({one: index for one, index in self.seen.items() if index >= start}, self.again)
            for index in range(start, len(self.samples.block)):
                self.samples.block[index] = self.block
            return True
        if series == next(iter(self.seen)):
            self._next_page({}, set())
            return True
        return False

    def _next_page(self, seen: dict[int, int], declared: set[tuple[str, str]]) -> None:
        self.block += 1
        self.seen, self.declared, self.again, self.again_from = seen, set(declared), set(), None
