"""Plain pages are read at once: exactly where, and exactly what, reading line by line gives."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import paths
from analysis.sources import (
    prometheus_layout,
    prometheus_line,
    prometheus_plain,
    prometheus_scrapes,
    prometheus_text,
    prometheus_words,
)
from analysis.sources.files import SourceFile
from analysis.sources.prometheus_line import parse_number
from analysis.sources.prometheus_scrapes import Scrapes, reading
from analysis.sources.reading import Reading

EXAMPLES = int(os.environ.get("METRIC_EXAMPLES", "200"))
MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
RECORDED = sorted((paths.DATA / "vllm-cpu" / "metrics" / "A2").glob("*.prom.gz"))


def source(folder: Path, text: str | bytes, name: str = "m/page.prom") -> SourceFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return SourceFile(name, path, path.stat().st_size, 7.0)


def content(read: Reading) -> tuple[Any, ...]:
    """All that a reading says, NaN made comparable."""
    samples: Any = read.tables.get("samples", [])
    rows = samples.sort("page_index", "line").rows() if len(samples) else []
    return (
        read.format, read.tables.get("pages", []), [(*row[:4], repr(row[4])) for row in rows], read.unparsed,
        read.message,
    )  # fmt: skip


def plainly(file: SourceFile, scrapes: Scrapes | None = None) -> Reading | None:
    scrapes = scrapes or Scrapes()
    found = scrapes.read(file)
    return reading(file, found, scrapes.words) if found else None


def page(at: int, names: str = "abc") -> str:
    return "".join(f'# HELP vllm:{n} H\n# TYPE vllm:{n} gauge\nvllm:{n}{{le="1",x="{n}"}} {at}.5\n' for n in names)


PLAIN = {
    "one page": page(1),
    "no labels, empty labels": "vllm:a 1\nvllm:b{} 2\nray_vllm_c 3\n",
    "labels out of order": 'vllm:a{ z="1" , a="2",} 3\n',
    "escapes, equals, commas": r'vllm:a{x="a\\\"b,\n",y="=",z="\",="} 1' + "\n",
    "commas and nothing": 'vllm:a{a=",",b="",c=",,"} 1\n',
    "text of the world": 'vllm:a{x="ünï→"} 1\n',
    "control character": 'vllm:a{x="a\x01b"} 1\n',
    "numbers": "a:1 NaN\na:2 +Inf\na:3 -inf\na:4 1e-400\na:5 .5\na:6 1.\na:7 -nan\na:8 0.1e+05\n",
    "instances": 'vllm:a{instance="h:1",pod="p"} 1\nvllm:b{pod="p",instance="h:1"} 1\n',
    "process start": "process_start_time_seconds 5\nvllm:a_created 4\nvllm:b_created 3\n",
    "created, not times": "vllm:a_created NaN\nvllm:b_created 0\nvllm:c_created 9\n",
    "openmetrics": page(1) + "# EOF\n",
    "pages": page(1) + page(2) + page(3, "acd"),
    "pages of openmetrics": (page(1) + "# EOF\n") * 2,
    "dated pages": "# scraped_at 2026-11-29T13:15:00Z\n" + page(1) + "# scraped_at: 1795958400\n" + page(2),
    "comments of no meaning": "#\n# a\n#TYPE vllm:a gauge\nvllm:a 1\n",
}
CAREFUL = {
    "twice spaced": 'vllm:a{a="2"}  3\n',
    "cut off": "vllm:a 1\nvllm:b 53",
    "cut second page": page(1) + page(2)[:-3],
    "no sample": "vllm:a 1\nvllm:b x\n",
    "sample's time": "vllm:a 1 1786929018620\n",
    "exemplar": 'vllm:a 1 # {x="y"} 1\n',
    "same series twice": "vllm:a 1\nvllm:a 2\n",
    "same series written differently": 'vllm:a{x="1",y="2"} 1\nvllm:b 2\nvllm:a{y="2",x="1"} 1\n',
    "duplicate label": 'vllm:a{x="1",x="1"} 1\n',
    "two instances": 'vllm:a{pod="p"} 1\nvllm:a{pod="q"} 1\n',
    "name in labels": '{__name__="vllm:a"} 1\n{"vllm:b"} 2\n',
    "declared twice": page(1, "ab") + page(1, "c") + page(2, "b"),
    "second page of other series": "# TYPE vllm:a gauge\nvllm:a 1\n# TYPE vllm:a gauge\nvllm:b 1\n",
    "empty line": "vllm:a 1\n\nvllm:b 1\n",
    "tab": "vllm:a\t1\n",
    "leading blank": " vllm:a 1\n",
    "carriage returns": page(1).replace("\n", "\r\n"),
    "utf-16": page(1).encode("utf-16"),
    "byte order mark": "\ufeff" + page(1),
    "bad bytes": b'vllm:a{x="\xff"} 1\n',
    "too large for a double": "vllm:a 1e999\n",
    "too long a number": "vllm:a 0." + "0" * 500 + "\n",
    "underscore": "vllm:a 1_0\n",
    "open brace": "vllm:a{ 1\n",
    "unquoted": "vllm:a{x=,y=} 1\n",
    "zero byte": 'vllm:a{x=\x00} 1\nvllm:b{x="\x00"} 1\n',
    "undated page": "# scraped_at soon\nvllm:a 1\n",
    "an end inside": "vllm:a 1\n# EOF\nvllm:b 1\n",
    "comments only": "# HELP a b\n",
    "a date of two lines": "# scraped_at 2026-11-29\r13:50:00+01:00\n" + page(1),
    "nothing": "",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_pages_are_read_at_once_as_line_by_line(tmp_path: Path, text: str) -> None:
    file = source(tmp_path, text)
    found = plainly(file)
    assert found is not None
    assert content(found) == content(prometheus_text.read_carefully(file))


@pytest.mark.parametrize("text", CAREFUL.values(), ids=CAREFUL)
def test_what_is_not_plain_is_read_line_by_line(tmp_path: Path, text: str | bytes) -> None:
    file = source(tmp_path, text)
    assert plainly(file) is None
    assert content(prometheus_text.read(file)) == content(prometheus_text.read_carefully(source(tmp_path, text)))


TOKENS = st.lists(
    st.sampled_from([
        "vllm:a", "vllm:b", "c_created", "process_start_time_seconds", " ", "  ", "\t", "{", "}", '{x="1"}',
        '{x="2",y="1"}', '{pod="p"}', '{y="1",x="2"}', "1", "2.5", "NaN", "+Inf", "1e999", "_", "\n", "\n", "\n", "\r",
        "#", "# ", "TYPE ", "HELP ", "# TYPE vllm:a gauge\n", "# HELP vllm:b x\n", "# EOF\n",
        "# scraped_at 1795958400\n",
        '"', "\\", ",", "=", "\x00", "ü", " 1\n", " 2\n", " 3\n", "vllm:a 1\n", 'vllm:b{x="1"} 2\n', "vllm:d 4\n",
    ]),
    max_size=24,
).map("".join)  # fmt: skip


@MANY
@given(st.lists(TOKENS, min_size=1, max_size=4))
def test_whatever_is_taken_is_what_careful_reading_takes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    """Several files in a row: what one leaves behind must not show in the next."""
    folder, scrapes = tmp_path_factory.getbasetemp(), Scrapes()
    for text in texts:
        for again in (text, text.replace("1\n", "7\n"), text + text):
            file = source(folder, again)
            found = plainly(file, scrapes)
            if found is not None:
                assert content(found) == content(prometheus_text.read_carefully(file))


@MANY
@given(st.lists(TOKENS, min_size=1, max_size=4), st.lists(st.integers(0, 999), max_size=6))
def test_files_that_are_looked_at_together_are_read_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], numbers: list[int]
) -> None:
    folder, scrapes = tmp_path_factory.getbasetemp() / "ahead", Scrapes()
    for text in texts[:3]:  # the others are of no known layout
        scrapes.read(source(folder, text))
    again = [text.replace(" 1\n", f" {number}\n") for text in [*texts, page(1)] for number in [*numbers, 1]]
    held = [source(folder, text, f"m/{place}").held()[0] for place, text in enumerate(again)]
    for file, found in zip(held, scrapes.ahead(held), strict=True):
        alone = scrapes.read(file, known_only=True)
        assert (found is not None) == (alone is not None and len(alone) == 1)
        if found:
            careful = content(prometheus_text.read_carefully(file))
            assert content(reading(file, found, scrapes.words)) == careful


BESIDE = {
    "another layout": page(2, "abd"),
    "fewer lines": page(2, "ab"),
    "more lines": page(2, "abcd"),
    "no end of its last line": page(2)[:-1],
    "no end of its first line": "# HELP vllm:a H",
    "a value that is none": page(2).replace("2.5", "x", 1),
    "a value too large for a double": page(2).replace("2.5", "1e999", 1),
    "a value too long": page(2).replace("2.5", "0" * 500, 1),
    "no value": page(2).replace(" 2.5", " ", 1),
    "a line that ends before its value": page(2).replace('x="a"} 2.5', "", 1),
    "another label": page(2).replace('x="b"', 'x="z"', 1),
    "nothing": "",
    "two pages": page(2) + page(3),
    "packed and cut off": gzip.compress(page(2).encode())[:-9],
    "large when unpacked": gzip.compress(page(2).encode() + b"\n" * (5 << 20)),
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_a_file_beside_known_pages_costs_them_nothing(tmp_path: Path, beside: str | bytes) -> None:
    scrapes = Scrapes()
    assert scrapes.read(source(tmp_path, page(1)))
    texts: list[str | bytes] = [page(3), beside, page(4), gzip.compress(page(5).encode()), beside, page(6)]
    held = [source(tmp_path, text, f"m/{place}").held()[0] for place, text in enumerate(texts)]
    found = [one and [*one[0].values] for one in scrapes.ahead(held)]
    assert found == [[3.5] * 3, None, [4.5] * 3, [5.5] * 3, None, [6.5] * 3]


def test_what_begins_like_another_encoding_is_no_known_page(tmp_path: Path) -> None:
    scrapes, text = Scrapes(), b"#\0x\0\n# TYPE a gauge\na 1\nb 2\n"
    assert scrapes.read(source(tmp_path, b"# scraped_at 1790000000\n" + text))
    assert scrapes.ahead([source(tmp_path, text).held()[0]]) == [None]


def test_no_more_is_unpacked_at_once_than_the_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scrapes = Scrapes()
    assert scrapes.read(source(tmp_path, page(1)))
    monkeypatch.setattr(prometheus_scrapes, "MOST_UNPACKED", 2 * len(page(2)) + 1)
    packed = gzip.compress(page(2).encode())
    held = [source(tmp_path, text, f"m/{at}").held()[0] for at, text in enumerate([packed, packed, packed, page(2)])]
    assert [one is not None for one in scrapes.ahead(held)] == [True, True, False, True]
    assert [scrapes.read(file) is not None for file in held] == [True] * 4


def test_another_label_of_the_first_sample_is_seen_before_any_line_is_sought(
    tmp_path: Path, count_calls: Callable[..., list[str]]
) -> None:
    scrapes = Scrapes()
    assert scrapes.read(source(tmp_path, page(1)))
    sought = count_calls(prometheus_layout, "_in_turn")
    assert scrapes.ahead([source(tmp_path, page(2).replace('x="a"', 'x="z"')).held()[0]]) == [None]
    assert sought == []


def test_a_long_comment_is_not_kept() -> None:
    prometheus_plain._declared.cache_clear()
    long = b"# HELP a " + b"x" * 3_000
    assert (prometheus_plain.declared(long), prometheus_plain.declared(long[:100])) == (("HELP", "a"), ("HELP", "a"))
    assert prometheus_plain._declared.cache_info().currsize == 1


def test_pages_of_several_layouts_are_told_apart_together(tmp_path: Path) -> None:
    scrapes = Scrapes()
    names = ["abc", "abd", "abe"]
    for letters in names:
        assert scrapes.read(source(tmp_path, page(1, letters)))
    texts = [page(at, names[at % 3]) for at in range(9)]
    found = scrapes.ahead([source(tmp_path, text, f"m/{i}").held()[0] for i, text in enumerate(texts)])
    known = scrapes.words.table()["name"]
    told = [(one[0].values[0], known[int(one[0].layout.series[2])]) for one in found if one]
    assert told == [(at + 0.5, f"vllm:{names[at % 3][2]}") for at in range(9)]


@MANY
@given(st.text("0123456789.eE+-nNaAiIfFtTyYxX_()pP", max_size=9) | st.floats().map(repr))
def test_numbers_are_those_of_the_grammar(text: str) -> None:
    want = parse_number(text)
    for found in (prometheus_plain._cast(pl.Series([text])), prometheus_layout._numbers(pa.array([text]))):
        if found is None:
            assert want is None or "(" in text
        else:
            assert repr(float(found[0])) == repr(want)


def test_recorded_pages_are_plain_and_read_alike(tmp_path: Path) -> None:
    scrapes = Scrapes()
    for path in RECORDED:
        file = SourceFile(f"metrics/A2/{path.name}", path, path.stat().st_size, 7.0)
        found = plainly(file, scrapes)
        assert found is not None
        assert content(found) == content(prometheus_text.read_carefully(file))
    assert len(RECORDED) > 20 and len(scrapes.layouts) < 5


@pytest.fixture
def count_calls(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    def watch(module: Any, name: str) -> list[str]:
        real, seen = getattr(module, name), list[str]()

        def counted(text: Any, *rest: Any) -> Any:
            seen.append(text)
            return real(text, *rest)

        monkeypatch.setattr(module, name, counted)
        return seen

    return watch


def test_each_distinct_series_is_parsed_once(tmp_path: Path, count_calls: Callable[..., list[str]]) -> None:
    """Work for a series of scrapes grows with the distinct series, not with the pages."""
    made = count_calls(prometheus_words, "make_series")
    parsed = count_calls(prometheus_words, "parse_labels")
    line_by_line = count_calls(prometheus_line, "parse_series")
    learned = count_calls(prometheus_scrapes, "read")
    text = gzip.decompress(RECORDED[-1].read_bytes()).decode()
    scrapes = Scrapes()
    for scrape in range(20):
        file = source(tmp_path, text.replace("} 0.0\n", f"}} {scrape}.0\n"), f"m/{scrape}.prom")
        assert scrapes.read(file)
    names = {line.partition(" ")[0].partition("{")[0] for line in text.splitlines() if line[0] != "#"}
    assert len(scrapes.words.series) == sum(line[0] != "#" for line in text.splitlines()) > 400
    assert len(made) == len(names)
    assert parsed == line_by_line == []  # plain labels in canonical order need no parser
    assert len(learned) == len(scrapes.layouts) == 1
