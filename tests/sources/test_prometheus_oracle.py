"""The reader against the well-kept parser library, on pages that hypothesis makes up.

METRIC_EXAMPLES=10000 runs more than the suite's 200.
"""

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.core import CounterMetricFamily, Exemplar, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from analysis.engines import canonical_name
from analysis.sources import prometheus_text
from analysis.sources.files import SourceFile

EXAMPLES = int(os.environ.get("METRIC_EXAMPLES", "200"))
MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

NAME = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,12}", fullmatch=True)
LABEL = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(lambda name: not name.startswith("__"))
# Newlines go in as \n escapes; a bare carriage return or another line separator is a line end for the oracle only.
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from('\\"\n{},= #\t'), max_size=12
)
NUMBER = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**15), 10**15).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map("{:e}".format),
    st.floats(0, 1e9).map("{:.3f}".format),
    st.sampled_from(["NaN", "-nan", "nan", "+Inf", "-Inf", "Inf", "inf", "+0", "1.", ".5", "1E3", "0x"[:1]]),
)
SPACE = st.sampled_from([" ", "  ", "\t"])
MAYBE_SPACE = st.sampled_from(["", " "])


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


@st.composite
def line(draw: st.DrawFn, name: str, labels: dict[str, str], at_ms: int | None) -> str:
    gap = draw(MAYBE_SPACE)
    inside = f",{gap}".join(f'{gap}{key}{gap}={gap}"{escaped(value)}"' for key, value in labels.items())
    inside += "," if inside and draw(st.booleans()) else ""
    block = f"{{{inside}{gap}}}" if labels or draw(st.booleans()) else ""
    stamp = "" if at_ms is None else f"{draw(SPACE)}{at_ms}"
    indent = draw(MAYBE_SPACE)
    return f"{indent}{name}{gap if block else ''}{block}{draw(SPACE)}{draw(NUMBER)}{stamp}{draw(MAYBE_SPACE)}"


@st.composite
def page(draw: st.DrawFn) -> str:
    """A page of text format 0.0.4 without two lines for one series."""
    series = draw(
        st.lists(
            st.tuples(NAME, st.dictionaries(LABEL, TEXT, max_size=4)),
            max_size=8,
            unique_by=lambda one: (canonical_name(one[0]), json.dumps(one[1], sort_keys=True)),
        )
    )
    at_ms = draw(st.none() | st.integers(1_500_000_000_000, 2_000_000_000_000))
    lines = [draw(line(name, labels, at_ms)) for name, labels in series]
    for position, (name, _) in enumerate(list(series)):
        if draw(st.booleans()):
            lines[position] = f"# HELP {name} help {{x}}\n# TYPE {name} gauge\n{lines[position]}"
    if draw(st.booleans()):
        lines.insert(0, draw(st.sampled_from(["", "# a comment", "#", "   "])))
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])


def rows(text: bytes, folder: Path) -> dict[tuple[str, str], tuple[float, float | None]]:
    """(name, labels) to (value, time in unix seconds or None), as our reader has them."""
    path = folder / "page.prom"
    path.write_bytes(text)
    reading = prometheus_text.read(SourceFile("page.prom", path, len(text), 0.0))
    assert reading.unparsed == [] and reading.message is None
    if "samples" not in reading.tables:
        return {}
    times = {
        row["page_index"]: row["scraped_at_s"] if row["scraped_at_source"] == "sample timestamp" else None
        for row in reading.tables["pages"]
    }
    samples: Any = reading.tables["samples"]
    return {
        (row["name"], row["labels"]): (row["value"], times[row["page_index"]]) for row in samples.iter_rows(named=True)
    }


def oracle(families: Iterable[Any]) -> dict[tuple[str, str], tuple[float, float | None]]:
    return {
        (
            canonical_name(sample.name),
            json.dumps(sample.labels, sort_keys=True, ensure_ascii=False, separators=(",", ":")),
        ): (float(sample.value), None if sample.timestamp is None else float(sample.timestamp))
        for family in families
        for sample in family.samples
    }


def assert_same(ours: dict[Any, Any], theirs: dict[Any, Any]) -> None:
    assert ours.keys() == theirs.keys()
    for key, (value, at_s) in theirs.items():
        assert ours[key][0] == value or (math.isnan(value) and math.isnan(ours[key][0])), key
        assert ours[key][1] == (None if at_s is None else pytest.approx(at_s, abs=1e-3)), key


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@MANY
@given(text=page())
def test_text_format_is_read_as_the_parser_library_reads_it(folder: Path, text: str) -> None:
    assert_same(rows(text.encode(), folder), oracle(parse_text(text)))


@st.composite
def families(draw: st.DrawFn) -> list[Any]:
    """Counters, gauges and histograms with exemplars and time stamps, under distinct names."""
    found: list[Any] = []
    label = draw(TEXT)
    at_s = draw(st.none() | st.integers(1_500_000_000, 2_000_000_000))
    for name in draw(st.lists(st.from_regex(r"[a-z]{3,6}x", fullmatch=True), max_size=4, unique=True)):
        kind = draw(st.sampled_from([CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily]))
        family = kind(name, draw(TEXT), labels=["a"])
        exemplar = Exemplar({"trace_id": draw(st.text("abc#{}, ", max_size=8))}, draw(st.floats(0, 1e3)))
        if kind is HistogramMetricFamily:
            counts = sorted(draw(st.lists(st.integers(0, 10**9), min_size=3, max_size=3)))
            buckets = list(zip(["0.3", "1.0", "+Inf"], counts, strict=True))
            family.add_metric([label], buckets, draw(st.floats(0, 1e9)), timestamp=at_s)
            family.samples[0] = family.samples[0]._replace(exemplar=exemplar)
        elif kind is CounterMetricFamily:
            family.add_metric([label], draw(st.floats(0, 1e12)), timestamp=at_s)
            family.samples[0] = family.samples[0]._replace(exemplar=exemplar)
        else:
            family.add_metric([label], draw(st.floats(allow_nan=True)), timestamp=at_s)
        found.append(family)
    return found


class Given:
    """A registry that holds just these families."""

    def __init__(self, found: list[Any]) -> None:
        self.found = found

    def collect(self) -> list[Any]:
        return self.found


@MANY
@given(found=families())
def test_openmetrics_is_read_as_the_parser_library_reads_it(folder: Path, found: list[Any]) -> None:
    text = generate_latest(Given(found)).decode()  # type: ignore[arg-type]
    assert_same(rows(text.encode(), folder), oracle(parse_openmetrics(text)))
