"""Engine logs: boots, their facts and their steps, whatever the log was wrapped in. See docs/formats/boot-logs.md."""

import re
from collections.abc import Iterator

from analysis.sources import log_blocks, log_wrap
from analysis.sources.boot_match import MAX_QUOTE, Match, literals, match
from analysis.sources.boot_resolve import engine_of, resolve
from analysis.sources.boot_split import Boot, Splitter
from analysis.sources.files import MAX_FILE_BYTES, SourceFile
from analysis.sources.log_lines import LogText, unwrap
from analysis.sources.reading import Reading, Row, Unparsed

MAX_UNPARSED = 1000
MAX_STEPS = 5_000_000
_NO_EVIDENCE = frozenset(("fallback", "traceback", "crash", "shutdown"))
_COMPRESSED = (".gz", ".zst", ".zstd")


def recognise(head: str, name: str) -> bool:
    """Whether the text is an engine's log: one line at least is what an engine prints, and stands like a log line.

    Text that only quotes such lines (prose, tables, source, JSON results) is not.
    """
    lines: Iterator[tuple[int, str, bool]] = ((i, line, True) for i, line in enumerate(head.split("\n"), 1))
    wrap = log_wrap.detect(head)
    for number, line, _ in log_wrap.join(lines, wrap) if wrap else lines:
        if not any(literal in line for literal in literals()):
            continue
        for piece in unwrap(line):
            found, _ = match(number, piece.text)
            if any(_is_evidence(hit) for hit in found):
                return True
    return False


def _is_evidence(hit: Match) -> bool:
    return bool(hit.shape.engine) and hit.shape.purpose not in _NO_EVIDENCE and (hit.bare or hit.origin.is_log)


def read(file: SourceFile) -> Reading:
    """Rows for `boots`, `boot_facts` and `engine_steps`; a known line that does not parse becomes `unparsed`.

    Memory is bounded by what is found, not by the size of the file. When something was left out, `message` says what.
    """
    reading = Reading("boot_log", "engine log")
    splitter = Splitter()
    steps: list[tuple[Boot, Match]] = []
    left: list[str] = []
    try:
        for number, piece, complete in _pieces(file):
            found, unread = match(number, piece.text, complete)
            if unread is not None and len(reading.unparsed) < MAX_UNPARSED:
                reading.unparsed.append(Unparsed(number, f"boot line: {unread}", piece.text[:MAX_QUOTE]))
            for hit in found:
                boot = splitter.take(hit, piece.service)
                if hit.shape.purpose == "step" and len(steps) < MAX_STEPS:
                    steps.append((boot, hit))
    except (log_blocks.Truncated, EOFError, OSError) as error:
        left.append(_why(error))
    _fill(reading, splitter, steps, _stem(file.path))
    left += [f"{boot.dropped:,} more known lines of a boot were not kept" for boot in splitter.done if boot.dropped]
    if len(reading.unparsed) == MAX_UNPARSED:
        left.append(f"only the first {MAX_UNPARSED:,} lines that do not parse are listed")
    reading.message = f"{file.path}: {'; '.join(left)}" if left else None
    return reading


def _why(error: Exception) -> str:
    if isinstance(error, log_blocks.Truncated):
        return f"read up to {MAX_FILE_BYTES:,} bytes; split the file to have the rest read"
    return "the compressed file ends early or is damaged; what came before was read"


def _pieces(file: SourceFile) -> Iterator[tuple[int, LogText, bool]]:
    wrap = log_wrap.detect(file.head())
    lines = log_wrap.join(log_blocks.every_line(file), wrap) if wrap else log_blocks.interesting(file, literals())
    for number, line, complete in lines:
        for piece in unwrap(line):
            yield number, piece, complete


def _fill(reading: Reading, splitter: Splitter, steps: list[tuple[Boot, Match]], stem: str) -> None:
    names: dict[int, str] = {}
    for name, ordinal, boot in splitter.named(stem):
        names[id(boot)] = name
        reading.add("boots", **resolve(name, ordinal, boot))
        for row in _fact_rows(name, boot):
            reading.add("boot_facts", **row)
    for boot, hit in steps:
        if id(boot) in names:
            reading.add("engine_steps", **_step_row(names[id(boot)], hit))


def _fact_rows(name: str, boot: Boot) -> Iterator[Row]:
    """A row for each value, once for each process that states it; lines without values give their own id and text."""
    engine = engine_of(boot)
    width = 1 + max((m.origin.tensor or 0 for m in boot.matches), default=0)
    told: set[tuple[str, str | None, str]] = set()
    for hit in boot.matches:
        if hit.shape.engine not in ("", engine) or hit.shape.purpose == "step":
            continue
        own = (
            []
            if hit.facts and hit.shape.purpose not in ("refusal", "crash", "fallback")
            else [(hit.shape.id, hit.quote, None, None)]
        )
        for fact, text, value, unit in [*own, *((f.name, f.text, f.value, f.unit) for f in hit.facts)]:
            key = (fact, text, hit.origin.process)
            if key in told:
                continue
            told.add(key)
            where = hit.origin
            known = where.pipeline is not None or where.tensor is not None
            yield {
                "boot": name,
                "line": hit.number,
                "fact": fact,
                "engine_index": where.engine,
                "rank": (where.pipeline or 0) * width + (where.tensor or 0) if known else None,
                "text": text[:MAX_QUOTE] if text is not None else None,
                "value": value,
                "unit": unit,
                "quote": hit.quote,
            }


def _step_row(name: str, hit: Match) -> Row:
    raw = {fact.name: (fact.text or "").replace(",", "") for fact in hit.facts}
    counts = {column: int(raw[column]) for column in raw if column != "elapsed_ms"}
    return {
        "boot": name,
        "line": hit.number,
        "engine_index": hit.origin.engine,
        "logged_at_text": hit.origin.stamp,
        **counts,
        "elapsed_s": float(raw["elapsed_ms"]) / 1000,
    }


def _stem(path: str) -> str:
    """The file's name without its last extension, and without that of a compressed file."""
    name = path.rsplit("/", 1)[-1]
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    return re.sub(r"(?<=.)\.[^.]*$", "", name)
