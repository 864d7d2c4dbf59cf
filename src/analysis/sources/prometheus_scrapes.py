"""Files of plain pages, many of one exporter: each page a layout that is known by now, and its values."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import BufferedReader, BytesIO

import numpy as np
import polars as pl

from analysis.sources import files, prometheus_pages
from analysis.sources.files import SourceFile, encoding_of
from analysis.sources.prometheus_layout import AT_ONCE_BYTES, Layout
from analysis.sources.prometheus_line import SCRAPED_AT
from analysis.sources.prometheus_pages import page_time, parse_time
from analysis.sources.prometheus_plain import declared, read
from analysis.sources.prometheus_words import Words
from analysis.sources.reading import Reading, Row

MAX_PAGE_BYTES = 64 << 20
"""Largest page that is held as a whole; a larger one is read line by line."""
KEPT_LAYOUTS = 32
"""Layouts that a page is compared with: of each exporter the last few."""
MOST_UNPACKED = 16 << 20
"""Most bytes of packed files that are looked at together."""
_BLOCK = 4 << 20
_SCRAPED = b"# scraped_at"


@dataclass(frozen=True, slots=True)
class Scrape:
    """One page: its layout and values, the lines of the file before it, and its time where a line above says it."""

    layout: Layout
    values: np.ndarray
    lines_before: int
    at_s: float | None

    @property
    def lines(self) -> np.ndarray:
        """The line of each sample in the file."""
        return self.layout.lines + self.lines_before if self.lines_before else self.layout.lines

    def after(self, lines: int) -> "Scrape":
        """The same page after so many more lines of its file."""
        return replace(self, lines_before=self.lines_before + lines) if lines else self


@dataclass(slots=True)
class Scrapes:
    """Reads files of plain pages, and remembers their words and layouts from one file to the next."""

    words: Words = field(default_factory=Words)
    layouts: list[Layout] = field(default_factory=list)

    def read(self, file: SourceFile, *, known_only: bool = False) -> list[Scrape] | None:
        """The pages of a file, or None where one of them needs careful reading, or (`known_only`) has a new layout."""
        scrapes: list[Scrape] = []
        lines = samples = 0  # read so far
        try:
            with _opened(file) as stream:
                for found in self._each(_pages(stream), known_only):
                    if found is None or not _goes_on(scrapes, found):
                        return None
                    scrape = found.after(lines)
                    lines = scrape.lines_before + len(scrape.layout.is_sample)
                    samples += len(scrape.values)
                    if lines > files.MAX_LINES or samples > prometheus_pages.MAX_SAMPLES:
                        return None
                    scrapes.append(scrape)
        except files.UnreadableFileError:
            return None
        few = _few_series({scrape.layout for scrape in scrapes})
        return scrapes if scrapes and few and not file.troubles else None

    def ahead(self, some: Sequence[SourceFile]) -> list[list[Scrape] | None]:
        """As `read` does of each file that is one page of a layout known by now; None of any other.

        A series of scrapes is read in a fraction of the time when its files are looked at together.
        """
        # What is a known page but for its values is one page, and no more.
        found = self._known([_dated(content) for content in _contents(some)])
        return [[one] if one and not file.troubles else None for file, one in zip(some, found, strict=True)]

    def _each(self, pages: Iterable[bytes | None], known_only: bool) -> Iterator[Scrape | None]:
        """Each page as it was found; None where one needs careful reading, and then no more."""
        for few in files.together(pages, lambda page: len(page or b""), AT_ONCE_BYTES):
            dated = [_dated(page) for page in few]
            learned = False
            for page, found in zip(dated, self._known(dated), strict=True):
                if found is None and learned:
                    found = self._known([page])[0]
                if found is None and page and not known_only:
                    found, learned = self._new(page), True
                yield found
                if found is None:
                    return

    def _known(self, pages: Sequence["_Dated | None"]) -> list[Scrape | None]:
        """Each page of a layout that is known; None in place of the others."""
        found: list[Scrape | None] = [None] * len(pages)
        left = [(place, page) for place, page in enumerate(pages) if page]
        for layout in tuple(self.layouts):
            if not left:
                break
            all_values = layout.values([page.text for _, page in left])
            for (place, page), values in zip(left, all_values, strict=True):
                found[place] = None if values is None else Scrape(layout, values, page.head, page.at_s)
            if any(values is not None for values in all_values):
                self._first(layout)
            left = [one for one, values in zip(left, all_values, strict=True) if values is None]
        return found

    def _new(self, page: "_Dated") -> Scrape | None:
        """A page of a layout that is not known yet, and is from now on."""
        found = read(page.text, self.words)
        if found is None or not _few_series({found[0]}):
            return None
        self._first(found[0])
        while len(self.layouts) > KEPT_LAYOUTS or (
            len(self.layouts) > 1 and sum(len(layout.page) for layout in self.layouts) > MAX_PAGE_BYTES
        ):
            self.layouts.pop()
        return Scrape(*found, page.head, page.at_s)

    def _first(self, layout: Layout) -> None:
        """The layout seen last is asked first."""
        self.layouts = [layout, *(other for other in self.layouts if other is not layout)]


@dataclass(frozen=True, slots=True)
class _Dated:
    """A page without the line above it that dates it, the time, and how many lines that were."""

    text: bytes
    at_s: float | None
    head: int


def _dated(page: bytes | None) -> _Dated | None:
    """What dates a page, and the page; None where a line begins to, and no time can be read in it."""
    if not page or not page.startswith(_SCRAPED):
        return _Dated(page, None, 0) if page else None
    line, _, text = page.partition(b"\n")
    match = None if b"\r" in line else SCRAPED_AT.match(line.decode("utf-8", "replace"))
    at_s = parse_time(match[1]) if match else None
    return None if at_s is None else _Dated(text, at_s, 1)


def page_rows(file: SourceFile, scrapes: list[Scrape]) -> list[Row]:
    """The rows of `pages` for the pages of a file."""
    folder = file.path.rpartition("/")[0] or "."
    rows = []
    times = Counter(scrape.layout.instance for scrape in scrapes)
    for index, scrape in enumerate(scrapes):
        instance = scrape.layout.instance
        when, source = page_time(file, times[instance] == 1, scrape.at_s)
        rows.append({
            "page_index": index, "target": f"{folder}@{instance}" if instance else folder, "scraped_at_s": when,
            "scraped_at_source": source, "process_start_s": scrape.layout.process_start(scrape.values),
        })  # fmt: skip
    return rows


def page_format(scrapes: list[Scrape]) -> str:
    """The reader's name for the shape of these pages."""
    return "openmetrics" if any(scrape.layout.is_openmetrics for scrape in scrapes) else "prometheus-text"


def reading(file: SourceFile, scrapes: list[Scrape], words: Words) -> Reading:
    """What careful reading hands over for the same pages."""
    result = Reading("metrics", page_format(scrapes))
    result.tables["pages"] = page_rows(file, scrapes)
    samples = pl.DataFrame(
        {"page_index": np.repeat(np.arange(len(scrapes)), [len(scrape.values) for scrape in scrapes]),
         "series": np.concatenate([scrape.layout.series for scrape in scrapes]),
         "line": np.concatenate([scrape.lines for scrape in scrapes]),
         "value": np.concatenate([scrape.values for scrape in scrapes])}
    )  # fmt: skip
    known = words.table()[samples["series"]]
    frame = samples.select("page_index", known["name"], known["labels"], "line", "value")
    result.tables["samples"] = frame  # type: ignore[assignment]  # columns: rows would fill the memory
    return result


def _opened(file: SourceFile) -> BufferedReader | BytesIO:
    """The file's bytes as a stream; those that are held already are not copied."""
    whole = file.plain()
    return file.open() if whole is None else BytesIO(whole)


def _pages(stream: BufferedReader | BytesIO) -> Iterator[bytes | None]:
    """The pages of a file, each whole; None where it cannot be told what is a page, or the last one is cut off."""
    buffer, start = stream.read(_BLOCK), 0
    if encoding_of(buffer[:4]) != "utf-8-sig":
        yield None
        return
    first = buffer[: max(buffer.find(b"\n"), 0)]
    # A page begins with what the first one begins with: when it was taken, or its first declaration.
    mark = _SCRAPED if first.startswith(_SCRAPED) else first + b"\n" if declared(first) else b""
    while True:
        end = buffer.find(b"\n" + mark, start + 1) + 1 if mark else 0
        if end:
            yield buffer[start:end]
            start = end
        elif more := stream.read(_BLOCK):
            buffer, start = buffer[start:] + more, 0
            if len(buffer) > MAX_PAGE_BYTES:
                yield None
                return
        else:
            yield buffer[start:] if buffer.endswith(b"\n") else None
            return


def _contents(some: Sequence[SourceFile]) -> Iterator[bytes | None]:
    """All that is in each file that is held, unpacked up to MOST_UNPACKED bytes of all; None of any other."""
    left = MOST_UNPACKED
    for file in some:
        content = file.plain()
        if content is None and file.content is not None:
            with suppress(files.UnreadableFileError):
                content = file.whole(left)
            left -= len(content or b"")
        yield content if content and encoding_of(content[:4]) == "utf-8-sig" else None


def _goes_on(scrapes: list[Scrape], scrape: Scrape) -> bool:
    """Whether careful reading begins a page here too: at a time, or where series of the page before come again."""
    if not scrapes or scrape.at_s is not None or scrapes[-1].layout is scrape.layout:
        return True
    return bool(np.intersect1d(scrapes[-1].layout.series, scrape.layout.series).size)


def _few_series(layouts: set[Layout]) -> bool:
    """Whether the series of a file of these layouts are so few that careful reading takes them."""
    return (
        sum(len(layout.series) for layout in layouts) <= prometheus_pages.MAX_SERIES
        and sum(layout.chars for layout in layouts) <= prometheus_pages.MAX_SERIES_CHARS // 2
    )
