"""A decision record, decision.toml: what was chosen, why, and what would make it worth measuring again.

Its values are kept in `study_facts` under `decision.<path>`; whether they make sense is for the finding to say.
"""

from analysis.sources.files import SourceFile
from analysis.sources.json_text import clean
from analysis.sources.reading import Reading
from analysis.sources.study_toml import as_json, leaves, toml_of

FORMAT = "decision-toml"


def recognise(head: str, name: str) -> bool:
    """Whether the file is a decision.toml: by its name, so that a broken one is reported."""
    return name.rsplit("/", 1)[-1] == "decision.toml"


def read(file: SourceFile) -> Reading:
    """The values that the file holds. Raises UnreadableFileError with the line of a TOML fault."""
    reading = Reading("config", FORMAT)
    values, lines = toml_of(file, "docs/formats/decision.md")
    for key, value in leaves(values):
        reading.add("study_facts", line=lines.get(key), key=clean(f"decision.{key}"), value=clean(as_json(value)))
    return reading
