"""Files on their way to their readers, opened some at a time: pages of one exporter are looked at together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from analysis.sources.files import SourceFile, UnreadableFileError, together
from analysis.sources.prometheus_layout import AT_ONCE_BYTES
from analysis.sources.prometheus_scrapes import Scrape, Scrapes

MOST_FILES = 64
"""Most files that are opened together: behind a page of a new layout each of them is looked at alone."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file in memory, where it is small, with its digest, and its page, where that is known; or why it is closed."""

    file: SourceFile
    sha256: str | None = None
    error: UnreadableFileError | OSError | None = None
    page: list[Scrape] | None = None


def opened(files: Iterable[SourceFile], scrapes: Scrapes) -> Iterator[OpenedFile]:
    """Each file in its order; what is no page of a layout known by then is left to its reader."""
    for few in together(map(_open, files), _size, AT_ONCE_BYTES):
        try:
            pages = scrapes.ahead([one.file for one in few])
        except Exception:  # of one of them: it shows again where that file is read alone
            pages = [None] * len(few)
        for one, page in zip(few, pages, strict=True):
            yield replace(one, page=page) if page else one


def _size(one: OpenedFile) -> int:
    """What is not in memory is opened alone, just before it is read; of small files few wait together."""
    return AT_ONCE_BYTES if one.file.content is None else max(len(one.file.content), AT_ONCE_BYTES // MOST_FILES)


def _open(file: SourceFile) -> OpenedFile:
    try:
        return OpenedFile(*file.held())
    except (UnreadableFileError, OSError) as error:
        return OpenedFile(file, error=error)
