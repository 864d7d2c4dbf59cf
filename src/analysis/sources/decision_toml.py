"""A decision record, decision.toml: what was chosen, why, and what would make it worth measuring again.

Its values are kept in `study_facts` under `decision.<path>`; whether they make sense is for the finding to say.
"""

import tomllib

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.json_text import clean
from analysis.sources.reading import Reading
from analysis.sources.study_toml import as_json, leaves, line_numbers

FORMAT = "decision-toml"
MAX_CHARS = 1 << 20


def recognise(head: str, name: str) -> bool:
    """Whether the file is a decision.toml: by its name, so that a broken one is reported."""
    return name.rsplit("/", 1)[-1] == "decision.toml"


def read(file: SourceFile) -> Reading:
    """The values that the file holds. Raises UnreadableFileError with the line of a TOML fault."""
    reading = Reading("config", FORMAT)
    text = file.text(MAX_CHARS, "keep only what docs/formats/decision.md lists")
    try:
        values = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnreadableFileError(f"{file.path}: not valid TOML: {why}; correct it, or make decide anew") from None
    lines = dict(line_numbers(text))
    for key, value in leaves(values):
        reading.add("study_facts", line=lines.get(key), key=clean(f"decision.{key}"), value=clean(as_json(value)))
    return reading
