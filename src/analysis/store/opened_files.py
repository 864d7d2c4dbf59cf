"""Files on their way to their readers, opened some at a time: pages of one exporter are looked at together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from analysis.sources.files import SourceFile, UnreadableFileError, together
from analysis.sources.prometheus_layout import AT_ONCE_BYTES
from analysis.sources.prometheus_scrapes import Scrape, Scrapes


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file in memory, where it is small, with its digest, and its page, where that is known; or why it is closed."""

    file: SourceFile
    sha256: str | None = None
    error: UnreadableFileError | OSError | None = None
    page: list[Scrape] | None = None


def opened(files: Iterable[SourceFile], scrapes: Scrapes) -> Iterator[OpenedFile]:
    """Each file in its order; what is no page of a layout known by then is left to its reader."""
    for few in together(map(_open, files), lambda one: len(one.file.content or b""), AT_ONCE_BYTES):
        try:
            pages = scrapes.ahead([one.file for one in few])
        except Exception:  # of one of them: it shows again where that file is read alone
            pages = [None] * len(few)
        for one, page in zip(few, pages, strict=True):
            yield replace(one, page=page) if page else one


def _open(file: SourceFile) -> OpenedFile:
    try:
        return OpenedFile(*file.held())
    except (UnreadableFileError, OSError) as error:
        return OpenedFile(file, error=error)
