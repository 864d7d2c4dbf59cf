"""Engine logs: boots, their facts and their steps, whatever the log was wrapped in. See docs/formats/boot-logs.md."""

import re
from collections.abc import Callable, Iterable, Iterator

from analysis.sources import log_blocks, log_wrap
from analysis.sources.boot_match import Fact, Match, literals, match, repeated
from analysis.sources.boot_repeats import Repeats
from analysis.sources.boot_resolve import engine_of, resolve
from analysis.sources.boot_split import MAX_MATCHES, Boot, Splitter
from analysis.sources.boot_steps import MAX_UNPARSED, Steps
from analysis.sources.files import SourceFile
from analysis.sources.log_blocks import RARE, Line
from analysis.sources.log_lines import MAX_TEXT, unwrap
from analysis.sources.log_origin import origin, seconds_between
from analysis.sources.reading import Reading, Row, Unparsed, cut

_NO_EVIDENCE = frozenset(("fallback", "traceback", "crash", "shutdown"))
_TOLD_WHOLE = frozenset(("refusal", "crash", "fallback"))
_MARKUP = tuple("|#>*-<\"'")
_OPENING = ("{", "(", "[")
_COMPRESSED = (".gz", ".zst", ".zstd")


def recognise(head: str, name: str) -> bool:
    """Whether the text is an engine's log: one line at least is what an engine prints, and stands like a log line.

    Text that only quotes such lines (prose, tables, source, JSON results) is not.
    """
    lines: Iterable[Line] = (Line(number, text) for number, text in enumerate(head.split("\n"), 1))
    wrap = log_wrap.detect(head)
    for line in log_wrap.join(lines, wrap) if wrap else lines:
        if any(literal in line.text for literal in literals()):
            for piece in unwrap(line.text):
                found, unread = match(line.number, piece.text)
                if any(map(_is_evidence, found)) or (
                    unread and not _is_quoted(piece.text) and origin(piece.text).is_log
                ):
                    return True
    return False


def _is_evidence(hit: Match) -> bool:
    known = bool(hit.shape.engine) and hit.shape.purpose not in _NO_EVIDENCE
    return known and not _is_quoted(hit.before or hit.text) and (hit.bare or hit.origin.is_log)


def _is_quoted(text: str) -> bool:
    return "`" in text or text.lstrip()[:1] in _MARKUP


def read(file: SourceFile) -> Reading:
    """Rows for `boots`, `boot_facts` and `engine_steps`; a known line that does not parse becomes `unparsed`.

    Memory is bounded by what is found, not by the size of the file. When something was left out, `message` says what.
    """
    log = _Log()
    if wrap := log_wrap.detect(file.head()):
        for line in log_wrap.join(log_blocks.every_line(file), wrap):
            log.look(line)
    else:
        for block in log_blocks.interesting(file, literals(), repeated()):
            log.take(block)
    reading = log.reading(_stem(file.path))
    left = [*file.troubles]
    if dropped := sum(boot.dropped for boot in log.boots.done):
        left.append(f"{dropped:,} known lines were not kept: a boot has more than {MAX_MATCHES:,}")
    if len(reading.unparsed) >= MAX_UNPARSED:
        left.append(f"more than {MAX_UNPARSED - 1:,} lines do not parse; only the first ones are listed")
        del reading.unparsed[MAX_UNPARSED - 1 :]
    reading.message = "; ".join(left) or None
    return reading


class _Log:
    """What has been read of one file."""

    def __init__(self) -> None:
        self.boots = Splitter()
        self.steps = Steps()
        self.unparsed: list[Unparsed] = []
        self.repeats = Repeats(self.boots, self.steps)

    def take(self, block: log_blocks.Block) -> None:
        """Read the lines of a block."""
        at = 0
        while (at := self.repeats.skip(block, at)) < len(block.marks):
            self.look(block.line(at), int(block.marks[at]))
            at += 1

    def look(self, line: Line, mark: int = RARE) -> None:
        """Read one line."""
        boot = service = None
        once: set[str] = set()
        for piece in unwrap(line.text):
            found, unread = match(line.number, _whole(piece.text, line.after), line.complete)
            if unread is not None and len(self.unparsed) < MAX_UNPARSED:
                self.unparsed.append(Unparsed(line.number, f"boot line: {unread}", cut(piece.text)))
            for hit in found:
                boot, service = self.boots.take(hit, piece.service), piece.service
                once.update(hit.shape.literals if hit.shape.once else ())
                if hit.shape.purpose == "step":
                    self.steps.add(boot, [line.number], [piece.text])
        self.repeats.note(mark, boot, service, line.text, once)

    def reading(self, stem: str) -> Reading:
        """The rows, now that all lines are in."""
        reading = Reading("boot_log", "engine log")
        self.steps.parse()
        names: dict[int, str] = {}
        for name, ordinal, boot in self.boots.named(stem):
            names[id(boot)] = name
            reading.add("boots", **resolve(name, ordinal, boot))
            for row in _fact_rows(name, boot):
                reading.add("boot_facts", **row)
        steps = self.steps.frame(names)
        if steps is not None:
            reading.tables["engine_steps"] = steps  # type: ignore[assignment]  # columns: rows would fill the memory
        reading.unparsed = sorted([*self.unparsed, *self.steps.unparsed], key=lambda u: u.line)
        return reading


def _whole(text: str, after: Callable[[], Iterable[str]]) -> str:
    """The text with the lines after it that close the bracket it ends in."""
    depth = 1
    for line in after() if text.rstrip().endswith(_OPENING) else ():
        inner = " ".join(piece.text.strip() for piece in unwrap(line))
        text += f" {inner}"
        depth += sum(map(inner.count, "([{")) - sum(map(inner.count, ")]}"))
        if depth <= 0 or len(text) > MAX_TEXT:
            break
    return text


def _fact_rows(name: str, boot: Boot) -> Iterator[Row]:
    """A row for each value, once for each process that states it; lines without values give their own id and text."""
    engine = engine_of(boot)
    width = 1 + max((m.origin.tensor or 0 for m in boot.matches), default=0)
    told: set[tuple[object, ...]] = set()
    stamps = [m.origin.stamp for m in boot.matches if m.origin.stamp and m.shape.engine in ("", engine)]
    start = now = stamps[0] if stamps else None
    for hit in boot.matches:
        now = hit.origin.stamp or now
        if hit.shape.engine not in ("", engine) or hit.shape.purpose == "step":
            continue
        whole = [Fact(hit.shape.id, hit.quote)] if not hit.facts or hit.shape.purpose in _TOLD_WHOLE else []
        for fact in (*whole, *hit.facts):
            key = (fact.name, fact.text, hit.origin.process, *hit.origin.place)
            if key not in told:
                told.add(key)
                yield {**_fact_row(name, hit, fact, width), "since_start_s": seconds_between(start, now)}


def _fact_row(name: str, hit: Match, fact: Fact, width: int) -> Row:
    """`width` is the number of tensor ranks in a pipeline stage, which counts ranks through the stages."""
    where = hit.origin
    known = where.pipeline is not None or where.tensor is not None
    return {
        "boot": name,
        "line": hit.number,
        "fact": fact.name,
        "engine_index": where.engine,
        "rank": (where.pipeline or 0) * width + (where.tensor or 0) if known else None,
        "text": None if fact.text is None else cut(fact.text),
        "value": fact.value,
        "unit": fact.unit,
        "quote": hit.quote,
    }


def _stem(path: str) -> str:
    """The file's name without its last extension, and without that of a compressed file."""
    name = path.rsplit("/", 1)[-1]
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return re.sub(r"(?<=.)\.[^.]*$", "", name)
