"""Shapes of load generators' files that no case covers, written down before they were tried."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.sources.files import UnreadableFileError, walk
from analysis.sources.reading import Reading
from analysis.sources.registry import reader_of


def read(folder: Path, content: str | bytes, name: str = "requests/x.json") -> Reading:
    """Write one file, let the registry choose its reader, and read it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    file = next(f for f in walk(folder)[0] if f.path == name)
    reader = reader_of(file)
    assert reader is not None
    reading = reader.read(file)
    if isinstance(columns := reading.tables.get("requests"), pl.DataFrame):
        reading.tables["requests"] = columns.to_dicts()
    return reading


def vllm(**changes: Any) -> dict[str, Any]:
    """A result of two requests: 100 ms and 200 ms to the first of 3 tokens, then gaps of 10 ms and 20 ms."""
    result = {
        "date": "20261103-100000", "backend": "vllm", "num_prompts": 2, "request_rate": "inf", "max_concurrency": 2,
        "duration": 4.0, "completed": 2, "failed": 0, "total_input_tokens": 30, "total_output_tokens": 6,
        "request_throughput": 0.5, "output_throughput": 1.5, "input_lens": [10, 20], "output_lens": [3, 3],
        "ttfts": [0.1, 0.2], "itls": [[0.01, 0.01], [0.02, 0.02]], "start_times": [50.0, 51.0],
        "generated_texts": ["a", "b"], "errors": ["", ""],
    }  # fmt: skip
    return {key: value for key, value in (result | changes).items() if value != "absent"}


def test_appended_results_are_runs_and_a_cut_one_is_unparsed(tmp_path: Path) -> None:
    lines = [json.dumps(vllm()), json.dumps(vllm(duration=8.0)), json.dumps(vllm())[:200]]
    reading = read(tmp_path, "\n".join(lines), "requests/append.json")
    assert [(r["run"], r["duration_s"]) for r in reading.tables["request_runs"]] == [
        ("requests/append.json#1", 4.0),
        ("requests/append.json#2", 8.0),
    ]
    assert [(u.line, u.what[:19]) for u in reading.unparsed] == [(3, "JSON line: not JSON")]


@pytest.mark.parametrize(("failed", "rows"), [(0, 2), (1, 0)])
def test_without_detail_latencies_remain_and_count_only_if_none_failed(tmp_path: Path, failed: int, rows: int) -> None:
    gone = dict.fromkeys(
        ("input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"), "absent"
    )
    reading = read(tmp_path, json.dumps(vllm(**gone, latencies=[0.12, 0.24], queue_times=[0.0, 0.0], failed=failed)))
    assert len(reading.tables.get("requests", [])) == rows
    assert [r["e2e_s"] for r in reading.tables.get("requests", [])] == [0.12, 0.24][:rows]
    run = reading.tables["request_runs"][0]
    assert (run["completed"], run["failed"]) == (2, failed)


def test_older_result_without_failed_and_start_times(tmp_path: Path) -> None:
    old = vllm(failed="absent", start_times="absent") | {"request_goodput:": None, "benchmark_start_time_unix": 1.79e9}
    reading = read(tmp_path, json.dumps(old, indent=1))
    assert reading.tables["request_runs"][0]["started_at_s"] == 1.79e9
    first = reading.tables["requests"][0]
    assert (first["clock"], first["sent_at_s"], first["ttft_s"]) == ("none", None, 0.1)
    assert first["e2e_s"] == pytest.approx(0.12)


def test_an_older_summary_counts_failures_from_the_number_of_prompts(tmp_path: Path) -> None:
    gone = dict.fromkeys(
        ("input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors", "failed"), "absent"
    )
    run = read(tmp_path, json.dumps(vllm(**gone, num_prompts=5))).tables["request_runs"][0]
    assert (run["completed"], run["failed"]) == (2, 3)


def test_metadata_that_overwrites_header_keys_is_not_taken_for_numbers(tmp_path: Path) -> None:
    reading = read(tmp_path, json.dumps(vllm(max_concurrency="4", **{"class": "chat", "ttft": "fast"})))
    assert reading.tables["request_runs"][0]["concurrency"] is None
    assert [u.what for u in reading.unparsed] == ["vllm-bench-serve result: max_concurrency"]
    assert {r["class"] for r in reading.tables["requests"]} == {"chat"}


@pytest.mark.parametrize(
    ("ttft", "format", "unparsed"), [(1.5, "vllm-bench-serve-variant", 0), (1500, "vllm-bench-serve", 1)]
)
def test_bare_figures_are_seconds_only_where_they_can_be(
    tmp_path: Path, ttft: float, format: str, unparsed: int
) -> None:
    bare = {"completed": 8, "duration": 40.0, "num_prompts": 8, "request_throughput": 0.2, "median_ttft": ttft}
    reading = read(tmp_path, json.dumps(bare))
    assert (reading.format, len(reading.unparsed)) == (format, unparsed)


def test_arrays_of_different_lengths_are_nobodys(tmp_path: Path) -> None:
    reading = read(tmp_path, json.dumps(vllm(ttfts=[0.1])))
    assert "requests" not in reading.tables
    assert [u.what for u in reading.unparsed] == ["vllm-bench-serve result: arrays of different lengths"]


def test_pooling_result_without_ttft(tmp_path: Path) -> None:
    gone = dict.fromkeys(
        ("failed", "ttfts", "itls", "output_lens", "generated_texts", "start_times", "input_lens", "errors"), "absent"
    )
    reading = read(tmp_path, json.dumps(vllm(**gone, total_output_tokens="absent", output_throughput="absent")))
    assert reading.tables["request_runs"][0]["completed"] == 2


def test_a_sglang_result_with_details(tmp_path: Path) -> None:
    sglang = vllm(date="absent", start_times="absent", backend="sglang", total_throughput=9.0, server_info={"a": [1]})
    reading = read(tmp_path, json.dumps(sglang) + "\n", "requests/sg.jsonl")
    assert reading.format == "sglang-bench-serving"
    assert [r["ttft_s"] for r in reading.tables["requests"]] == [0.1, 0.2]


def guidellm_v1() -> dict[str, Any]:
    entry = {
        "type_": "generative_text_response", "request_id": "r1", "prompt": "p", "output": "o", "prompt_tokens": 8,
        "output_tokens": 5, "start_time": 1.7e9, "end_time": 1.7e9 + 2.5, "first_token_time": 1.7e9 + 0.5,
        "last_token_time": 1.7e9 + 2.0,
    }  # fmt: skip
    return {
        "benchmarks": [
            {
                "type_": "generative_benchmark", "args": {"strategy": {"type_": "constant", "rate": 2.0}},
                "run_stats": {"requests_made": {"successful": 3, "errored": 1, "incomplete": 2, "total": 6}},
                "start_time": 1.7e9, "end_time": 1.7e9 + 30, "metrics": {},
                "requests": {"successful": [entry], "errored": [], "incomplete": []},
            }
        ]
    }  # fmt: skip


def test_an_early_guidellm_file_with_thinned_requests(tmp_path: Path) -> None:
    reading = read(tmp_path, json.dumps(guidellm_v1()))
    run, row = reading.tables["request_runs"][0], reading.tables["requests"][0]
    assert (run["completed"], run["failed"], run["incomplete"], run["duration_s"]) == (3, 1, 2, 30.0)
    assert run["request_rate"] == 2.0
    assert (row["ttft_s"], row["e2e_s"], row["last_token_at_s"], row["output_tokens"]) == (0.5, 2.5, 1.7e9 + 2.0, 5)


def aiperf_record(**metrics: Any) -> str:
    about = {"x_request_id": "r", "request_start_ns": 1759813207000000000, "benchmark_phase": "profiling"}
    return json.dumps({"metadata": about, "metrics": metrics, "error": None}) + "\n"


def test_aiperf_units_are_honoured_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    line = aiperf_record(
        time_to_first_token={"value": 50000, "unit": "us"},
        request_latency={"value": 0.25, "unit": "sec"},
        inter_chunk_latency={"value": [1, 2], "unit": "fortnights"},
        output_sequence_length={"value": 4, "unit": "tokens"},
        usage_completion_tokens={"value": 6, "unit": "tokens"},
    )
    reading = read(tmp_path, line, "requests/export.jsonl")
    row = reading.tables["requests"][0]
    assert (row["ttft_s"], row["e2e_s"], row["itl_s"]) == (pytest.approx(0.05), 0.25, None)
    assert (row["output_tokens"], row["tokens_counted_by"]) == (6, "server")
    assert [u.what for u in reading.unparsed] == ["aiperf record: inter_chunk_latency"]


def test_an_aiperf_raw_record_that_was_not_streamed(tmp_path: Path) -> None:
    body = {
        "id": "c", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }  # fmt: skip
    record = {
        "metadata": {"x_request_id": "r", "request_start_ns": 1_000_000_000, "was_cancelled": False},
        "start_perf_ns": 500, "status": 200, "responses": [{"perf_ns": 2_000_000_500, "text": json.dumps(body)}],
    }  # fmt: skip
    row = read(tmp_path, json.dumps(record) + "\n", "requests/raw.jsonl").tables["requests"][0]
    assert (row["ttft_s"], row["e2e_s"], row["finish_reason"], row["output_tokens"]) == (None, 2.0, "stop", 1)
    assert (row["status"], row["http_status"]) == ("ok", 200)


def test_llmperf_list_with_bare_key_names(tmp_path: Path) -> None:
    good = {
        "error_code": None, "error_msg": "", "inter_token_latency_s": 0.01, "ttft_s": 0.1, "end_to_end_latency_s": 0.2,
        "number_output_tokens": 11, "number_input_tokens": 5,
    }  # fmt: skip
    reading = read(tmp_path, json.dumps([good, "error_code", "ttft_s"]))
    assert len(reading.tables["requests"]) == 1
    assert [u.text for u in reading.unparsed] == ["error_code", "ttft_s"]


def test_inference_perf_prefers_arrivals_and_server_counts(tmp_path: Path) -> None:
    response = {"output_tokens": 9, "server_usage": {"completion_tokens": 3}, "chunk_times": [10.5, 11.5]}
    entry = {
        "start_time": 10.0, "end_time": 12.0, "request": "{}", "response": "x", "error": None,
        "info": {"input_tokens": 7, "response_metrics": response | {"output_token_times": [10.5, 10.6, 11.5]}},
    }  # fmt: skip
    row = read(tmp_path, json.dumps([entry])).tables["requests"][0]
    assert (row["token_at_s"], row["token_event"], row["output_tokens"]) == ([10.5, 11.5], "chunk", 3)
    assert (row["prompt_tokens"], row["tokens_counted_by"], row["clock"]) == (7, "server", "monotonic")


def wire(*events: Any) -> str:
    return "".join(f"data: {e if isinstance(e, str) else json.dumps(e)}\n\n" for e in events)


def chunk(number: int, usage: int | None = None, **delta: Any) -> dict[str, Any]:
    event: dict[str, Any] = {"id": f"c{number}", "object": "chat.completion.chunk", "choices": [{"delta": delta}]}
    return event | ({"usage": {"prompt_tokens": 4, "completion_tokens": usage}} if usage is not None else {})


def test_streams_as_the_wire_has_them(tmp_path: Path) -> None:
    """Without times; usage counted up in each chunk; reasoning first; an error in mid-stream; an empty stream."""
    text = (
        ": ping\n\n"
        + wire(chunk(1, 1, role="assistant"), chunk(1, 1, reasoning_content="hm"), chunk(1, 2, content="a"))
        + wire({"id": "c1", "choices": [{"delta": {}, "finish_reason": "stop"}]}, "[DONE]")
        + wire(chunk(2, content="b"))
        + "event: error\n"
        + wire({"error": {"message": "engine died", "code": 500}})
        + wire({"id": "c3", "choices": []}, "[DONE]", "{broken")
    )
    reading = read(tmp_path, text, "requests/capture.txt")
    rows = reading.tables["requests"]
    assert [(r["request"], r["status"], r["output_tokens"], r["ttft_s"]) for r in rows] == [
        ("c1", "ok", 2, None),
        ("c2", "error", None, None),
        ("c3", "ok", None, None),
    ]
    assert rows[0]["output_text"] == "hma"
    assert "engine died" in rows[1]["error"]
    assert [u.what for u in reading.unparsed] == ["stream event"]


def test_a_capture_in_milliseconds_is_refused(tmp_path: Path) -> None:
    line = json.dumps({"t": 1795957955789.9, "data": chunk(1, content="a")})
    reading = read(tmp_path, line + "\n", "requests/s.jsonl")
    assert reading.tables["requests"][0]["token_at_s"] is None
    assert [u.what for u in reading.unparsed] == ["captured event: t is not seconds"]


def test_a_bench_log_whose_run_failed(tmp_path: Path) -> None:
    reading = read(
        tmp_path, "Namespace(subparser='bench', bench_type='serve', seed=0)\nValueError: no\n", "requests/b.log"
    )
    assert reading.tables == {}
    assert reading.message is not None
    assert "without its result table" in reading.message


def test_two_tables_in_one_log_and_no_limit_on_the_rate(tmp_path: Path) -> None:
    table = "\x1b[1m============ Serving Benchmark Result ============\x1b[0m\n"
    table += "Backend:    sglang\nSuccessful requests:  {}\n"
    table += "Traffic request rate:  inf\nBenchmark duration (s):  2.50\n" + "=" * 50 + "\n"
    reading = read(tmp_path, "noise\n" + table.format(3) + "noise: 7\n" + table.format(4), "requests/b.log")
    assert [(r["format"], r["completed"], r["request_rate"]) for r in reading.tables["request_runs"]] == [
        ("sglang-bench-console", 3, None),
        ("sglang-bench-console", 4, None),
    ]


@pytest.mark.parametrize(
    "content",
    [
        '{"completed": 1, "duration": 2, "num_prompts": ' + "[" * 100_000,
        '{"completed": 1, "duration": 2, "num_prompts": 3',
    ],
)
def test_a_broken_result_has_one_clear_sentence(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableFileError, match=r"requests/x\.json"):
        read(tmp_path, content)


def test_numbers_no_machine_counts(tmp_path: Path) -> None:
    text = json.dumps(vllm()).replace('"total_input_tokens": 30', '"total_input_tokens": ' + "9" * 10_000)
    text = text.replace("[0.1, 0.2]", "[NaN, -Infinity]").replace("[10, 20]", "[1e400, -3]")
    rows = read(tmp_path, text.encode().replace(b'"a"', b'"\xff\xfe\\ud800"')).tables["requests"]
    assert [(r["ttft_s"], r["prompt_tokens"]) for r in rows] == [(None, None), (None, None)]
    assert rows[0]["output_text"].encode()  # no lone surrogate is left
