"""A study's own description: study.toml, and the recorder's boots.jsonl. What was intended; the logs are the source.

Every value is kept in `study_facts` under its path; boots and their phases also get their own tables.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import MAX_DEPTH, Fields, clean, finite, keep_unparsed, objects
from analysis.sources.reading import Reading
from analysis.sources.study_keys import POSITIVE, misfits

TOML, BOOTS = "study-toml", "study-boots-jsonl"
MAX_CHARS = 4 << 20
QUOTED_UNITS = ("tokens/s", "tok/s")
"""Units of a quoted figure that the project can hold against a rate of its own."""
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w\-. \"']+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w\-]+|\"[^\"]*\"|'[^']*')\s*=")
_BOOT_LINE = [re.compile(rf'"{key}"\s*:') for key in ("id", "arm", "start")]


def recognise(head: str, name: str) -> bool:
    """Whether the file is a study.toml (by its name, so that a broken one is reported), or lists boots with arms."""
    if name.rsplit("/", 1)[-1] == "study.toml" or re.search(r"^\[\[boots\]\]", head, re.MULTILINE):
        return True
    first = head.removeprefix("\ufeff").lstrip().partition("\n")[0]
    return first[:1] == "{" and all(key.search(first) for key in _BOOT_LINE)


def read(file: SourceFile) -> Reading:
    """The values, boots and phases that the file declares. Raises UnreadableFileError with the line of a TOML fault."""
    head = file.head().removeprefix("\ufeff").lstrip()
    if head[:1] == "{" and not file.path.endswith(".toml"):
        return _boots_jsonl(file)
    reading = Reading("config", TOML)
    values, lines = toml_of(file)
    for key, value in leaves(values):
        reading.add("study_facts", line=lines.get(key), key=clean(key), value=clean(as_json(value)))
    for path, wrong, value in misfits(values):
        keep_unparsed(reading, lines.get(path, 1), f"study.toml: {path} {wrong}", value)
    _quoted(Fields(values, "study.toml", lines.get("quoted", 1), reading), lines)
    for index, boot in enumerate(Fields(values, "study.toml", lines.get("boots", 1), reading).array("boots") or ()):
        _boot(boot, lines.get(f"boots[{index}]"), index + 1, reading)
    return reading


def toml_of(file: SourceFile, listed: str = "docs/formats/study.md") -> tuple[dict[str, Any], dict[str, int]]:
    """The values of a TOML file, and the lines of its keys by path; `listed` is the document that lists its keys.

    Raises UnreadableFileError with the fault.
    """
    text = file.text(MAX_CHARS, f"keep only what {listed} lists")
    try:
        values = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise UnreadableFileError(f"{file.path}: not valid TOML: {error}; correct that line") from None
    except (RecursionError, ValueError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnreadableFileError(f"{file.path}: not valid TOML: {why}; correct it") from None
    return values, dict(line_numbers(text))


def _quoted(fields: Fields, lines: dict[str, int]) -> None:
    """A quoted figure that cannot be held against a rate is told; the others are kept all the same."""
    for index, entry in enumerate(fields.array("quoted") or ()):
        line = lines.get(f"quoted[{index}]", fields.line)
        value = entry.get("value") if isinstance(entry, dict) else None
        if not isinstance(entry, dict):
            keep_unparsed(fields.reading, line, f"quoted figure {index + 1}: not a table", entry)
        elif not POSITIVE.fits(value):
            keep_unparsed(fields.reading, line, f"quoted figure {index + 1}: value is not a number above 0", value)
        elif entry.get("unit") not in QUOTED_UNITS:
            known = ", ".join(QUOTED_UNITS)
            keep_unparsed(
                fields.reading, line, f"quoted figure {index + 1}: unit is none of {known}", entry.get("unit")
            )


def _boots_jsonl(file: SourceFile) -> Reading:
    reading = Reading("config", BOOTS)
    for index, (line, values) in enumerate(objects(file, reading)):
        for key, value in leaves(values):
            reading.add("study_facts", line=line, key=clean(f"boots[{index}].{key}"), value=clean(as_json(value)))
        _boot(values, line, index + 1, reading)
    return reading


def _boot(boot: Any, line: int | None, ordinal: int, reading: Reading) -> None:
    fields = Fields(boot if isinstance(boot, dict) else {}, f"declared boot {ordinal}", line or 1, reading)
    name = fields.text("id")
    if name is None:
        keep_unparsed(reading, line or 1, f"declared boot {ordinal}: no id", repr(boot))
        return
    reading.add(
        "declared_boots", line=line, ordinal=ordinal, boot=name, arm=fields.text("arm"), args=fields.words("args"),
        start_s=_unix(fields, "start"), ready_s=_unix(fields, "ready"), stop_s=_unix(fields, "stop"),
        exit_status=fields.words("exit_status"), loaded=fields.flag("loaded"), note=fields.words("note"),
    )  # fmt: skip
    for setting in ("max_model_len", "max_num_batched_tokens"):
        fields.count(setting)  # kept in study_facts and held against the log: here only a wrong type is told
    if not all(isinstance(pattern, str) for pattern in fields.array("files") or ()):
        keep_unparsed(reading, line or 1, f"declared boot {ordinal}: files is not a list of patterns", boot["files"])
    for number, phase in enumerate(fields.array("phases") or (), start=1):
        if not isinstance(phase, dict):
            keep_unparsed(reading, line or 1, f"declared boot {ordinal}, phase {number}: not a table", phase)
            continue
        inner = Fields(phase, f"declared boot {ordinal}, phase {number}", line or 1, reading)
        reading.add(
            "declared_phases", boot=name, ordinal=number, phase=inner.text("phase"),
            start_s=_unix(inner, "start"), end_s=_unix(inner, "end"),
            chat_concurrency=inner.number("chat_concurrency"), batch_concurrency=inner.number("batch_concurrency"),
        )  # fmt: skip


def _unix(fields: Fields, key: str) -> float | None:
    """Unix seconds of a TOML date-time, an ISO string or a number; a time without a zone is not a point in time."""
    value = fields.values.get(key)
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return fields.number(key)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return moment.timestamp()
    except (ValueError, OverflowError):
        pass
    keep_unparsed(fields.reading, fields.line, f"{fields.what}: {key} is not a time with a zone", value)
    return None


def leaves(value: dict[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The values by path; tables and lists of tables are entered, an empty or very deep one is a value itself."""
    for key, inner in value.items():
        name = f"{path}{key}"
        if depth > MAX_DEPTH:
            yield name, inner
        elif isinstance(inner, dict) and inner:
            yield from leaves(inner, f"{name}.", depth + 1)
        elif isinstance(inner, list) and inner and all(isinstance(entry, dict) for entry in inner):
            for index, entry in enumerate(inner):
                yield from leaves(entry, f"{name}[{index}].", depth + 1) if entry else iter([(f"{name}[{index}]", {})])
        else:
            yield name, inner


def as_json(value: Any) -> str:
    """A value of a TOML file as JSON; dates and times as their text, what is not finite as a word."""
    if isinstance(value, float) and finite([value]) is None:
        return json.dumps(str(value))
    try:
        return json.dumps(value, default=lambda v: v.isoformat() if isinstance(v, date | time) else str(v))
    except RecursionError:
        return json.dumps("nested too deeply to be kept")


def line_numbers(text: str) -> Iterator[tuple[str, int]]:
    """Where keys stand, by their path: headers and `key =` lines of the usual form; others have no line."""
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = _resolve(header[2].replace(" ", ""), counts, fresh=header[1] == "[[")
            yield table, number
        elif key := _KEY.match(line):
            yield f"{table}.{key[1].strip(chr(34) + chr(39))}".removeprefix("."), number


def _resolve(name: str, counts: dict[str, int], fresh: bool) -> str:
    """The path of a header, with the index of each list of tables on the way."""
    path = ""
    parts = name.split(".")
    for position, part in enumerate(parts):
        path = f"{path}.{part}".removeprefix(".")
        if fresh and position == len(parts) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = f"{path}[{counts[path]}]"
    return path
