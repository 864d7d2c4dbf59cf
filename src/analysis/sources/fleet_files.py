"""What a fetch from a fleet's server left beside its pages: the record of the fetch, and the totals of the replicas."""

import json

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.fleet_pages import REPLICAS
from analysis.sources.json_text import Fields, clean, keep_unparsed, objects
from analysis.sources.reading import Reading

FETCH = "analysis-prometheus-fetch"
MAX_CHARS = 4 << 20


def recognise(head: str, name: str) -> bool:
    """Whether the file names itself as one of the two."""
    return head.startswith(f'{{"format": "{REPLICAS}"') or f'"format": "{FETCH}"' in head[:200]


def read(file: SourceFile) -> Reading:
    """Rows for `replica_totals`, or for `study_facts`; what the server said of partial data is the message."""
    return _totals(file) if file.head(200).startswith(f'{{"format": "{REPLICAS}"') else _record(file)


def _record(file: SourceFile) -> Reading:
    reading = Reading("config", FETCH)
    try:
        values = json.loads(file.text(MAX_CHARS))
    except (ValueError, RecursionError):
        raise UnreadableFileError(f"{file.path}: JSON that is cut off or damaged; fetch the period again") from None
    warnings = [str(text) for text in values.pop("server_warnings", None) or []]
    for key, value in values.items():
        reading.add("study_facts", line=None, key=clean(f"fetch.{key}"), value=clean(json.dumps(value)))
    if warnings:
        reading.message = clean(f"the server said of its answers: {'; '.join(warnings)[:600]}")
    return reading


def _totals(file: SourceFile) -> Reading:
    reading = Reading("metrics", REPLICAS)
    for line, values in objects(file, reading):
        if values.get("format") == REPLICAS:
            continue
        fields = Fields(values, "total of a replica", line, reading)
        replica, name, value = fields.text("replica"), fields.text("name"), fields.number("value")
        labels = values.get("labels")
        if replica is None or name is None or value is None or not isinstance(labels, dict):
            keep_unparsed(reading, line, "total of a replica: replica, name, labels or value is missing", values)
            continue
        text = json.dumps({str(k): clean(str(v)) for k, v in sorted(labels.items())}, ensure_ascii=False)
        reading.add("replica_totals", line=line, replica=replica, name=name, labels=text, value=value,
                    is_setting=values.get("setting") is True)  # fmt: skip
    return reading
