"""JSON from outside: the fast parser and the careful one say the same, and what is no number of a tool is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import paths
from analysis.sources import json_text, requests_trace
from analysis.sources.files import SourceFile
from analysis.sources.json_text import Fields, NotJsonError, finite, parse
from analysis.sources.reading import Reading

NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
EDGES = st.sampled_from(
    ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "-0", "-0.0", "1.", ".5", "01", "+1", "True", "nan"]
    + [str(sign * 2**bits + more) for sign in (1, -1) for bits in (53, 63, 64) for more in (-1, 0, 1)]
    + ["9" * 309, "9" * 400, "9" * 5000, "[" * 200 + "]" * 200, "null", "true", "false", "\ufeff1", "{}", "[]", ""]
)
STRINGS = st.one_of(
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: f'"{text}"'),
    st.lists(
        st.sampled_from(["\\ud800", "\\udc00", "\\u0000", "\\uD83D\\uDE00", "\\n", "\\x", "\x00", "\t", "\ud800", "a"])
    ).map(lambda parts: f'"{"".join(parts)}"'),
)
BLANKS = st.sampled_from(["", " ", "\n", "\t\r", "\x0b", "\u00a0", "\ufeff"])


def _containers(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    keys = st.one_of(st.sampled_from(['"a"', '"b"', '"\\u0061"']), STRINGS)
    pairs = st.tuples(keys, BLANKS, values).map(lambda pair: f"{pair[0]}:{pair[1]}{pair[2]}")
    return st.one_of(
        st.tuples(st.lists(values, max_size=4), BLANKS).map(lambda many: f"[{f',{many[1]}'.join(many[0])}]"),
        st.lists(pairs, max_size=4).map(lambda many: f"{{{','.join(many)}}}"),
    )


TEXTS = st.recursive(st.one_of(NUMBERS, EDGES, STRINGS), _containers, max_leaves=12)


def _outcome(parser: Any, text: str) -> str:
    """What came of it as text: unlike ==, it tells 1 from 1.0 and from True, -0.0 from 0.0, and NaN is itself."""
    try:
        return repr(parser(text))
    except NotJsonError as error:
        return f"refused: {error}"


@settings(max_examples=1500, deadline=None)
@given(TEXTS)
def test_both_parsers_agree(text: str) -> None:
    assert _outcome(parse, text) == _outcome(json_text._carefully, text)


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.integers(0, 200), st.integers(0, 3), st.sampled_from(["", ",", "]", "}", '"', "\\", "0", "e", "\x00"]))
def test_both_parsers_agree_on_damaged_texts(text: str, at: int, cut: int, put: str) -> None:
    damaged = text[:at] + put + text[at + cut :]
    assert _outcome(parse, damaged) == _outcome(json_text._carefully, damaged)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@settings(max_examples=500, deadline=None)
@given(VALUES)
def test_what_json_writes_is_read_as_it_was(value: Any) -> None:
    assert repr(parse(json.dumps(value))) == repr(value)
    assert repr(parse(json.dumps(value, ensure_ascii=False, indent=1))) == repr(value)


@pytest.mark.parametrize(
    "number", [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**25, -(10**25), int("9" * 400), "9" * 5000, "1e20"]
)
def test_a_number_beyond_64_bits_is_refused(number: int | str) -> None:
    reading = Reading("requests", "x")
    fields = Fields(parse(f'{{"n": {number}}}'), "result", 7, reading)
    assert (fields.number("n"), fields.count("n"), fields.duration("n")) == (None, None, None)
    assert [(u.line, u.what) for u in reading.unparsed] == [(7, "result: n")] * 3


def test_nan_and_infinity_are_null_and_not_refused() -> None:
    reading = Reading("requests", "x")
    fields = Fields(parse('{"a": NaN, "b": -Infinity, "c": 1e999}'), "result", 1, reading)
    assert [fields.number(key) for key in "abc"] == [None, None, None]
    assert reading.unparsed == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1, 2.5]", [1.0, 2.5]),
        ("[]", []),
        ("[1e308, 1e308]", [1e308, 1e308]),
        ("[1, NaN]", None),
        ("[Infinity, -Infinity]", None),
        ("[1, true]", None),
        ('["1"]', None),
        (f"[{'9' * 400}]", None),
        ("[1, null]", None),
    ],
)
def test_a_list_of_numbers_is_finite_as_a_whole(text: str, numbers: list[float] | None) -> None:
    assert finite(parse(text)) == numbers
    assert finite(parse(text), 2.0) == (numbers if numbers in (None, []) else finite([2 * n for n in numbers or ()]))


@pytest.mark.parametrize("depth", [500, 1000, 1023, 1024, 1025, 100_000])
def test_what_is_nested_deeply_costs_its_line_only(tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    lines = [f'{{"request_id": "r", "sent_at": 1.0, "status": "ok", "{key}": {deep}}}' for key in ("status", "error")]
    lines += [deep, '{"request_id": "last", "sent_at": 1.0, "status": "ok"}']
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(lines))
    reading = requests_trace.read(SourceFile("trace.jsonl", path, path.stat().st_size, 0.0))
    assert reading.tables["requests"][-1]["request"] == "last"
    assert len(reading.unparsed) >= 2


def test_a_sound_file_never_takes_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> Any:
        raise AssertionError(text)

    monkeypatch.setattr(json_text, "_carefully", fail)
    path = paths.ROOT / "tests" / "samples" / "requests" / "trace.jsonl"
    reading = requests_trace.read(SourceFile("trace.jsonl", path, path.stat().st_size, 0.0))
    assert len(reading.tables["requests"]) == len(path.read_text().splitlines())
    assert reading.unparsed == []
