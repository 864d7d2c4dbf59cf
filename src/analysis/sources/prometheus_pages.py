"""From samples to pages: which samples belong to one scrape, of what, and when it was."""

import re
from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import polars as pl

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.prometheus_line import Series
from analysis.sources.prometheus_words import CREATED, PROCESS_START, role_of
from analysis.sources.reading import Reading

MAX_SERIES = 200_000
"""Most distinct series of one file; engines export hundreds, a large deployment's dump some ten thousand."""
MAX_SERIES_CHARS = 100_000_000
"""Most characters of all their names and labels together."""
MAX_SAMPLES = 10_000_000
"""Most samples of one file (240 MB while it is read)."""
MAX_UNPARSED = 1_000
"""Most lines of one file that are kept as unparsed; the message counts the rest."""

_STAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d)[-:_]?(\d\d)[-:_]?(\d\d)(?:[.,](\d{1,9}))?Z", re.A)

PageKey = tuple[int, int, float | None]
"""Place in the file, number of the scrape instance, own time stamp."""


@dataclass(slots=True)
class Samples:
    """The samples of one file as columns. `block` counts the pages that follow each other in the file."""

    file: SourceFile
    numbers: dict[Series, int] = field(default_factory=dict)
    series: array = field(default_factory=lambda: array("i"))
    block: array = field(default_factory=lambda: array("i"))
    line: array = field(default_factory=lambda: array("q"))
    value: array = field(default_factory=lambda: array("d"))
    at_s: array = field(default_factory=lambda: array("d"))
    block_at_s: dict[int, float] = field(default_factory=dict)
    chars: int = 0

    def number(self, series: Series) -> int:
        """The series' number in this file; raises UnreadableFileError beyond MAX_SERIES."""
        known = len(self.numbers)
        number = self.numbers.setdefault(series, known)
        if number == known:
            self.chars += len(series.name) + len(series.labels)
        if number >= MAX_SERIES or self.chars > MAX_SERIES_CHARS:
            raise UnreadableFileError(
                f"{self.file.path}: more than {MAX_SERIES:,} distinct series, or very long ones; "
                "keep the engine's own families and read it again"
            )
        return number

    def add(self, number: int, block: int, line: int, value: float, at_s: float | None) -> None:
        """Append one sample; raises UnreadableFileError beyond MAX_SAMPLES."""
        if len(self.value) >= MAX_SAMPLES:
            raise UnreadableFileError(f"{self.file.path}: more than {MAX_SAMPLES:,} samples; split the file by time")
        self.series.append(number)
        self.block.append(block)
        self.line.append(line)
        self.value.append(value)
        self.at_s.append(float("nan") if at_s is None else at_s)

    def into(self, reading: Reading) -> None:
        """Fill the tables `pages` and `samples` of a reading."""
        if not self.value:
            return
        keys, page = self._page_of_sample()
        starts = self._process_starts(page, len(keys))
        instances = self._instances()
        per_target: dict[int, int] = {}
        for _, instance, _ in keys:
            per_target[instance] = per_target.get(instance, 0) + 1
        for index, (block, instance, at_s) in enumerate(keys):
            when, source = page_time(self.file, per_target[instance] == 1, self.block_at_s.get(block), at_s)
            reading.add("pages", page_index=index, target=self._target(instances[instance]), scraped_at_s=when,
                        scraped_at_source=source, process_start_s=starts[index])  # fmt: skip
        reading.tables["samples"] = self._frame(page)  # type: ignore[assignment]

    def _page_of_sample(self) -> tuple[list[PageKey], np.ndarray]:
        """The pages' keys in order, and each sample's page."""
        block, series, at_s = (
            np.frombuffer(self.block, "i4"),
            np.frombuffer(self.series, "i4"),
            np.frombuffer(self.at_s),
        )
        names = {name: number for number, name in enumerate(self._instances())}
        instance = np.array([names[one.instance] for one in self.numbers], "i8")[series]
        if not np.isnan(at_s).all():
            return _pages_by_time(block, instance, at_s, series)
        keys, page = np.unique(block.astype("i8") * len(names) + instance, return_inverse=True)
        return [(int(key) // len(names), int(key) % len(names), None) for key in keys], page

    def _instances(self) -> list[str]:
        return sorted({series.instance for series in self.numbers})

    def _process_starts(self, page: np.ndarray, pages: int) -> list[float | None]:
        """Per page process_start_time_seconds, else the earliest _created, else None."""
        role = np.array([role_of(series.name) for series in self.numbers], "i1")[np.frombuffer(self.series, "i4")]
        value = np.frombuffer(self.value)
        starts: list[float | None] = [None] * pages
        for wanted in (CREATED, PROCESS_START):
            at = (role == wanted) & np.isfinite(value) & (value > 0)
            least = np.full(pages, np.inf)
            np.minimum.at(least, page[at], value[at])
            starts = [float(new) if np.isfinite(new) else old for old, new in zip(starts, least, strict=True)]
        return starts

    def _target(self, instance: str) -> str:
        folder = self.file.path.rpartition("/")[0] or "."
        return f"{folder}@{instance}" if instance else folder

    def _frame(self, page: np.ndarray) -> pl.DataFrame:
        frame = pl.DataFrame(
            {"page_index": page, "series": np.frombuffer(self.series, "i4"),
             "line": np.frombuffer(self.line, "i8"), "value": np.frombuffer(self.value)}
        )  # fmt: skip
        once = frame.unique(["page_index", "series"], keep="first", maintain_order=True)
        if once.height < frame.unique(["page_index", "series", "value"]).height:
            self.file.trouble("some series have two values at one time; the first is kept")
        known = pl.DataFrame(
            {"name": [one.name for one in self.numbers], "labels": [one.labels for one in self.numbers]},
            schema={"name": pl.String, "labels": pl.String},
        )[once["series"]]
        return once.select("page_index", known["name"], known["labels"], "line", "value")


def _pages_by_time(
    block: np.ndarray, instance: np.ndarray, at_s: np.ndarray, series: np.ndarray
) -> tuple[list[PageKey], np.ndarray]:
    """A dump repeats a series at other times; in a single scrape the time stamps only say how old a value is."""
    frame = pl.DataFrame({"block": block, "instance": instance, "at": at_s, "series": series})
    pages = (
        frame.with_columns(
            repeats=pl.struct("block", "series").is_duplicated().any().over("block"), at=pl.col("at").fill_nan(None)
        )
        .with_columns(at=pl.when("repeats").then("at").otherwise(pl.col("at").max().over("block", "instance")))
        .select("block", "instance", "at")
    )
    keys = pages.unique().sort("block", "instance", "at").with_row_index("page")
    page = pages.join(keys, on=["block", "instance", "at"], how="left", nulls_equal=True, maintain_order="left")
    return list(keys.select("block", "instance", "at").iter_rows()), page["page"].to_numpy()


def page_time(
    file: SourceFile, alone: bool, line_s: float | None, sample_s: float | None = None
) -> tuple[float | None, str | None]:
    """When a page was taken, and what says so: the file's name, a line above it, its samples, the file's age.

    The name and the age can only date a page that is `alone` in its file.
    """
    named = time_in_name(file.path.rpartition("/")[2]) if alone else None
    if named is not None:
        return named, "file name"
    if line_s is not None:
        return line_s, "scraped_at line"
    if sample_s is not None:
        return sample_s, "sample timestamp"
    return (file.modified_at_s, "mtime") if alone else (None, None)


def time_in_name(name: str) -> float | None:
    """Unix seconds from a UTC stamp in a file name (20261129T131500Z, 2026-11-29T13:15:00Z); None if there is none."""
    match = _STAMP.search(name)
    return _unix(match) if match else None


def parse_time(text: str) -> float | None:
    """Unix seconds from what follows `# scraped_at`: a UTC stamp, an ISO time with offset, or unix seconds."""
    text = text.strip(" :=\t\r\n")
    match = _STAMP.fullmatch(text)
    if match:
        return _unix(match)
    if re.fullmatch(r"\d{9,10}(\.\d{1,9})?", text, re.A):
        return float(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.timestamp() if at.tzinfo else None


def _unix(match: re.Match[str]) -> float | None:
    *fields, fraction = match.groups()
    try:
        at = datetime(*map(int, fields), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None
    return at.timestamp() + float(f"0.{fraction or 0}")
