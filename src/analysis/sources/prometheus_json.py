"""Answers of Prometheus' HTTP API (query, query_range) saved as JSON: the same series, sampled by a server."""

import json
import re
from collections.abc import Iterator
from typing import Any

from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.prometheus_line import make_series, parse_number, seconds
from analysis.sources.prometheus_pages import MAX_UNPARSED, Samples
from analysis.sources.reading import Reading, Unparsed, cut

MAX_JSON_BYTES = 128 << 20
"""Largest answer read (about 1 GB of memory while it is parsed)."""

_RESULT = re.compile(r'"resultType"\s*:\s*"(?:matrix|vector|scalar|string)"')
_SERIES = re.compile(
    r'^\s*(?:\[|\{\s*"status"\s*:\s*"success"\s*,\s*"data"\s*:\s*\{\s*"result"\s*:\s*\[)\s*\{\s*"metric"\s*:\s*\{'
)


def recognise(head: str, name: str) -> bool:
    """Whether a file's beginning is an answer of query or query_range, or the list of its results."""
    return head.lstrip()[:1] in ("{", "[") and bool(_RESULT.search(head) or _SERIES.match(head))


def read(file: SourceFile) -> Reading:
    """The samples by series and time; each time of an instance is one page.

    Raises UnreadableFileError when the file is not JSON, or beyond MAX_JSON_BYTES, MAX_SERIES or MAX_SAMPLES.
    """
    reading = Reading("metrics", "prometheus-query-json")
    try:
        document = json.loads(file.text(MAX_JSON_BYTES))
    except RecursionError:
        raise UnreadableFileError(f"{file.path}: JSON nested too deeply for a query answer") from None
    except ValueError:
        raise UnreadableFileError(f"{file.path}: JSON that is cut off or damaged; run the query again") from None
    samples = Samples(file)
    unparsed = 0
    for position, result in enumerate(_results(document), 1):
        for what, text in _add(samples, position, result):
            unparsed += 1
            if unparsed <= MAX_UNPARSED:
                reading.unparsed.append(Unparsed(position, what, cut(text)))
    samples.into(reading)
    if unparsed > MAX_UNPARSED:
        file.trouble(f"{unparsed:,} entries are not understood, of which the first {MAX_UNPARSED:,} are listed")
    reading.message = "; ".join(file.troubles) or None
    return reading


def _results(document: Any) -> list[Any]:
    if isinstance(document, dict):
        data = document.get("data", document)
        document = data.get("result") if isinstance(data, dict) else None
    return document if isinstance(document, list) else []


def _add(samples: Samples, position: int, result: Any) -> Iterator[tuple[str, str]]:
    """Add one result's samples; yields (what, text) for what is not understood. `position` stands for the line."""
    metric = result.get("metric") if isinstance(result, dict) else None
    if not isinstance(metric, dict):
        yield "query result", cut(repr(result))
        return
    labels = {str(key): str(value) for key, value in metric.items()}
    name = labels.pop("__name__", "")
    if not name:
        yield "query result without a metric name (an expression?)", cut(repr(labels))
        return
    pairs = result.get("values", [result["value"]] if "value" in result else None)
    if not isinstance(pairs, list):
        yield "query result without values", name
        return
    series = make_series(name, labels)
    if series in samples.numbers:
        yield "second result of one series", f"{name} {labels!r}"
        return
    number = samples.number(series)
    taken: dict[float, float] = {}
    for pair in pairs:
        point = _point(pair)
        if point is None:
            yield "query sample", cut(repr(pair))
        elif point[0] in taken:
            if repr(taken[point[0]]) != repr(point[1]):
                yield "second value of a series at one time", cut(repr(pair))
        else:
            taken[point[0]] = point[1]
            samples.add(number, 0, position, point[1], point[0])


def _point(pair: Any) -> tuple[float, float] | None:
    """(unix seconds, value) of `[time, "value"]`."""
    if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], bool):
        return None
    at = parse_number(str(pair[0])) if isinstance(pair[0], (int, float)) else None
    value = parse_number(pair[1]) if isinstance(pair[1], str) else None
    return (seconds(at), value) if at is not None and at == at and value is not None else None
