"""Metric pages as text: which lines are samples, which samples are one page, and when and of what it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.sources import prometheus_json, prometheus_pages, prometheus_text
from analysis.sources.files import SourceFile, UnreadableFileError
from analysis.sources.reading import Reading


def read(tmp_path: Path, text: str | bytes, name: str = "metrics/page.prom", modified_at_s: float = 7.0) -> Reading:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(data)
    return prometheus_text.read(SourceFile(name, path, len(data), modified_at_s))


def samples(reading: Reading) -> list[tuple[int, str, dict[str, str], int, float]]:
    """(page_index, name, labels, line, value) of every sample."""
    found: Any = reading.tables.get("samples", [])
    return [(p, n, json.loads(labels), line, v) for p, n, labels, line, v in found.iter_rows()] if len(found) else []


def pages(reading: Reading) -> list[tuple[str, float | None, str | None, float | None]]:
    return [
        (row["target"], row["scraped_at_s"], row["scraped_at_source"], row["process_start_s"])
        for row in reading.tables.get("pages", [])
    ]


def test_labels_with_everything_in_them(tmp_path: Path) -> None:
    reading = read(tmp_path, 'a{z="}{,= # \\"q\\" \\\\n \\n",b="{\'method\': \'prefill\'}",} 1.5e3 1786929018620\n')
    assert samples(reading) == [(0, "a", {"z": '}{,= # "q" \\n \n', "b": "{'method': 'prefill'}"}, 1, 1500.0)]
    assert pages(reading) == [("metrics", 1786929018.62, "sample timestamp", None)]


def test_exemplar_is_not_the_value_and_openmetrics_seconds_are_seconds(tmp_path: Path) -> None:
    reading = read(tmp_path, 'a_bucket{le="1.0"} 3 1786929018.5 # {trace_id="} 9 9"} 0.5 1786929000\n# EOF\n')
    assert reading.format == "openmetrics"
    assert samples(reading) == [(0, "a_bucket", {"le": "1.0"}, 1, 3.0)]
    assert pages(reading)[0][1:3] == (1786929018.5, "sample timestamp")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ray_vllm:prompt_tokens_total", "vllm:prompt_tokens_total"),
        ("ray_vllm_prompt_tokens_total", "vllm:prompt_tokens_total"),
        ("vllm_prompt_tokens_total", "vllm:prompt_tokens_total"),
        ("sglang_num_requests_total", "sglang:num_requests_total"),
        ("tgi_request_count", "tgi_request_count"),
        ("ray_node_mem_used", "ray_node_mem_used"),
        ("dynamo_component_requests_total", "dynamo_component_requests_total"),
    ],
)
def test_prefixes_of_ray_and_gateways_are_undone(tmp_path: Path, written: str, name: str) -> None:
    assert samples(read(tmp_path, f"{written} 1\n"))[0][1] == name


@pytest.mark.parametrize(
    "line",
    [
        "vllm:a", "vllm:a x", "vllm:a 1_000", 'vllm:a{b="c} 1', 'vllm:a{b="c",b="d"} 1', "vllm:a 1 2 3", "1a 1",
        "vllm:a 1e999",
        "vllm:a 0x10",
        "vllm:a " + "9" * 10_000, "vllm:a ١", "<html>", 'vllm:a{b} 1', "vllm:a 1 nan", "{} 1",
    ],
)  # fmt: skip
def test_a_line_that_is_no_sample_is_unparsed_and_the_others_are_read(tmp_path: Path, line: str) -> None:
    reading = read(tmp_path, f"vllm:before 1\n{line}\nvllm:after 2\n")
    assert [(n, v) for _, n, _, _, v in samples(reading)] == [("vllm:before", 1.0), ("vllm:after", 2.0)]
    assert [(u.line, u.what) for u in reading.unparsed] == [(2, "metric sample")]
    assert len(reading.unparsed[0].text) <= 400


def test_an_incomplete_last_line_is_not_a_sample(tmp_path: Path) -> None:
    reading = read(tmp_path, "vllm:a 1\nvllm:b 53")
    assert [n for _, n, *_ in samples(reading)] == ["vllm:a"]
    assert [(u.line, u.what) for u in reading.unparsed] == [(2, "incomplete last line")]


@pytest.mark.parametrize("value", ["NaN", "-nan", "-NaN", "-nan(ind)"])
def test_nan_of_any_spelling_is_a_sample_without_a_number(tmp_path: Path, value: str) -> None:
    ((*_, number),) = samples(read(tmp_path, f"llamacpp:n_busy_slots_per_decode {value}\n"))
    assert number != number


def test_help_and_type_only_is_a_page_without_samples(tmp_path: Path) -> None:
    text = "# HELP vllm:a A\n# TYPE vllm:a counter\n"
    reading = read(tmp_path, text)
    assert prometheus_text.recognise(text, "x") and reading.tables == {} and reading.unparsed == []


PAGE = '# TYPE vllm:a counter\nvllm:a_total {a}\n# TYPE vllm:b gauge\nvllm:b{{x="1"}} {b}\n'


def test_concatenated_pages_are_several_pages(tmp_path: Path) -> None:
    reading = read(tmp_path, PAGE.format(a=1, b=2) + PAGE.format(a=3, b=4))
    assert [(p, n, v) for p, n, _, _, v in samples(reading)] == [
        (0, "vllm:a_total", 1), (0, "vllm:b", 2), (1, "vllm:a_total", 3), (1, "vllm:b", 4),
    ]  # fmt: skip
    # One modification time says nothing about two scrapes.
    assert [page[1:3] for page in pages(reading)] == [(None, None), (None, None)]


def test_concatenated_pages_without_comments_or_with_a_new_first_family(tmp_path: Path) -> None:
    bare = read(tmp_path, "vllm:a 1\nvllm:b 2\nvllm:a 3\nvllm:b 4\n")
    assert [p for p, *_ in samples(bare)] == [0, 0, 1, 1]
    grown = read(tmp_path, PAGE.format(a=1, b=2) + '# TYPE vllm:b gauge\nvllm:b{x="0"} 9\nvllm:b{x="1"} 4\n')
    assert [p for p, *_ in samples(grown)] == [0, 0, 1, 1]


def test_families_declared_again_for_other_series_are_one_page(tmp_path: Path) -> None:
    text = '# TYPE vllm:a gauge\nvllm:a{pid="1"} 1\n# TYPE vllm:a gauge\nvllm:a{pid="2"} 2\n'
    assert [p for p, *_ in samples(read(tmp_path, text))] == [0, 0]


def test_a_second_value_of_a_series_is_flagged_and_the_first_kept(tmp_path: Path) -> None:
    reading = read(tmp_path, "vllm:a 1\nvllm:b 2\nvllm:b 2\nvllm:b 3\nvllm:c 4\n")
    assert [(n, v) for _, n, _, _, v in samples(reading)] == [("vllm:a", 1), ("vllm:b", 2), ("vllm:c", 4)]
    assert [(u.line, u.what) for u in reading.unparsed] == [(4, "second value of a series on one page")]


def test_scraped_at_lines_date_the_pages_of_a_file(tmp_path: Path) -> None:
    text = (
        "# scraped_at 2026-11-29T13:15:00Z\nvllm:a 1\n# scraped_at: 1795958400\nvllm:a 2\n# scraped_at soon\nvllm:a 3\n"
    )
    reading = read(tmp_path, text)
    assert [page[1:3] for page in pages(reading)] == [
        (1795958100.0, "scraped_at line"), (1795958400.0, "scraped_at line"), (None, None),
    ]  # fmt: skip
    assert [(u.line, u.what) for u in reading.unparsed] == [(5, "time of a scrape")]


def test_the_file_name_dates_a_page_before_anything_else(tmp_path: Path) -> None:
    text = "# scraped_at 2026-11-29T14:00:00Z\nvllm:a 1 1786929018620\n"
    assert pages(read(tmp_path, text, "m/a/20261129T131500Z.prom"))[0] == ("m/a", 1795958100.0, "file name", None)
    assert pages(read(tmp_path, text, "m/a/20261329T131500Z.prom"))[0][2] == "scraped_at line"
    assert pages(read(tmp_path, "vllm:a 1\n", "p.prom", modified_at_s=9.5))[0] == (".", 9.5, "mtime", None)


def test_process_start_or_else_the_earliest_created(tmp_path: Path) -> None:
    created = "vllm:a_created 200\nvllm:b_created 100\n"
    assert pages(read(tmp_path, created))[0][3] == 100.0
    assert pages(read(tmp_path, created + "process_start_time_seconds 50\n"))[0][3] == 50.0


def test_instances_of_a_federated_page_are_targets(tmp_path: Path) -> None:
    text = 'vllm:a{instance="x:1",pod="p"} 1\nvllm:a{instance="y:1"} 2\nvllm:b 3\n'
    assert [page[0] for page in pages(read(tmp_path, text))] == ["metrics", "metrics@x:1/p", "metrics@y:1"]


def test_a_dump_is_one_page_per_time_and_instance(tmp_path: Path) -> None:
    line = '{{__name__="vllm:a_total", instance="{i}"}} {v} {t}\n'
    text = "".join(line.format(i=i, v=v, t=t) for i in "xy" for v, t in ((1, 1786929000000), (2, 1786929060000)))
    reading = read(tmp_path, text)
    assert reading.format == "promtool-dump"
    assert [page[:3] for page in pages(reading)] == [
        ("metrics@x", 1786929000.0, "sample timestamp"), ("metrics@x", 1786929060.0, "sample timestamp"),
        ("metrics@y", 1786929000.0, "sample timestamp"), ("metrics@y", 1786929060.0, "sample timestamp"),
    ]  # fmt: skip
    assert [(p, v) for p, *_, v in samples(reading)] == [(0, 1), (1, 2), (2, 1), (3, 2)]


def test_a_dump_that_repeats_itself_keeps_the_first_values_and_says_so(tmp_path: Path) -> None:
    dump = "".join(f'{{__name__="vllm:a_total"}} {v} {t}\n' for v, t in ((1, 1786929000000), (2, 1786929060000)))
    again = read(tmp_path, dump + dump)
    assert [(p, v) for p, *_, v in samples(again)] == [(0, 1), (1, 2)] and again.message is None
    other = read(tmp_path, dump + dump.replace("} 2", "} 3"))
    assert [(p, v) for p, *_, v in samples(other)] == [(0, 1), (1, 2)]
    assert other.message == "some series have two values at one time; the first is kept"


def test_time_stamps_that_differ_within_one_scrape_do_not_split_it(tmp_path: Path) -> None:
    reading = read(tmp_path, "vllm:a 1 1786929000000\nvllm:b 2 1786929005000\nvllm:c 3\n")
    assert [page[:3] for page in pages(reading)] == [("metrics", 1786929005.0, "sample timestamp")]


def test_a_page_as_one_json_string(tmp_path: Path) -> None:
    text = json.dumps("# HELP llamacpp:a A\n# TYPE llamacpp:a counter\nllamacpp:a 5\n")
    reading = read(tmp_path, text)
    assert prometheus_text.recognise(text, "x") and reading.format == "prometheus-json-string"
    assert samples(reading) == [(0, "llamacpp:a", {}, 3, 5.0)]
    with pytest.raises(UnreadableFileError, match="cut off"):
        read(tmp_path, text[:-4])


@pytest.mark.parametrize(
    "encoding",
    ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"],
    ids=["bom", "utf-16", "le without bom", "be without bom"],
)
def test_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    text = PAGE.format(a=1, b=2).replace("\n", "\r\n")
    reading = read(tmp_path, text.encode(encoding))
    assert [(n, v) for _, n, _, _, v in samples(reading)] == [("vllm:a_total", 1), ("vllm:b", 2)]
    assert reading.unparsed == []


@pytest.mark.parametrize("end", ["\r", "\r\r", "\r\r\n"], ids=["cr", "cr cr", "cr cr lf"])
def test_lines_that_end_in_carriage_returns(tmp_path: Path, end: str) -> None:
    text = PAGE.format(a=1, b=2).replace("\n", end)
    reading = read(tmp_path, text.encode())
    assert [(n, v) for _, n, _, _, v in samples(reading)] == [("vllm:a_total", 1), ("vllm:b", 2)]
    assert prometheus_text.recognise(text, "x") and reading.unparsed == []
    # The last line is complete only with its end.
    cut = read(tmp_path, text.rstrip("\r\n").encode())
    assert [u.what for u in cut.unparsed] == ["incomplete last line"] and len(samples(cut)) == 1


def test_names_with_html_and_sql_in_them_are_just_text(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script>'; drop table pages; --"
    ((_, _, labels, _, _),) = samples(read(tmp_path, f'vllm:a{{model_name="{nasty}"}} 1\n'))
    assert labels == {"model_name": nasty}


def test_invalid_utf8_is_replaced(tmp_path: Path) -> None:
    ((_, _, labels, _, _),) = samples(read(tmp_path, b'vllm:a{x="\xff\xfeq"} 1\n'))
    assert labels == {"x": "\ufffd\ufffdq"}


def test_too_many_series_or_samples_is_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f'vllm:a{{x="{i}"}} {i}\n' for i in range(20))
    monkeypatch.setattr(prometheus_pages, "MAX_SERIES", 10)
    with pytest.raises(UnreadableFileError, match="more than 10 distinct series"):
        read(tmp_path, text)
    monkeypatch.setattr(prometheus_pages, "MAX_SERIES", 20)
    monkeypatch.setattr(prometheus_pages, "MAX_SERIES_CHARS", 50)
    with pytest.raises(UnreadableFileError, match="or very long ones"):
        read(tmp_path, text)
    monkeypatch.setattr(prometheus_pages, "MAX_SERIES_CHARS", 5000)
    monkeypatch.setattr(prometheus_pages, "MAX_SAMPLES", 15)
    with pytest.raises(UnreadableFileError, match="more than 15 samples"):
        read(tmp_path, text)


def test_unparsed_lines_are_counted_when_there_are_too_many_to_list(tmp_path: Path) -> None:
    reading = read(tmp_path, "vllm:a 1\n" + "vllm:b x\n" * 1500)
    assert len(reading.unparsed) == 1000
    assert reading.message == "1,500 lines are not understood, of which the first 1,000 are listed"


@pytest.mark.parametrize(
    "head",
    [
        "INFO 08-07 21:32:22 [serve.py:119] a: 1\nINFO 08-07 21:32:23 b\n",
        '{"ttfts": [0.1], "completed": 1}\n',
        '{"t": 1}\n{"t": 2}\n',
        "boot 1\nserved 2\n",
        "",
        "\n\n",
        "# Notes\n\nThis is a page about metrics.\n",
        "time,value\n1,2\n",
        '"just a string"',
    ],
)
def test_other_files_are_not_taken_for_pages(head: str) -> None:
    assert not prometheus_text.recognise(head, "x") and not prometheus_json.recognise(head, "x")
