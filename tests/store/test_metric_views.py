"""The views on metric pages: order, lives, increases, concepts, defects and checks, on small made-up pages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import paths
from analysis.findings import facts_metrics, integrity, time_split
from analysis.store.load import load

Loaded = Callable[..., duckdb.DuckDBPyConnection]


@pytest.fixture
def study(tmp_path: Path) -> Loaded:
    """Loads a study of the given files (path to text)."""

    def make(**files: str) -> duckdb.DuckDBPyConnection:
        for name, text in files.items():
            path = tmp_path / "study" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        load(tmp_path / "study", tmp_path / "store.duckdb")
        return duckdb.connect(str(tmp_path / "store.duckdb"), read_only=True)

    return make


def totals(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Concept (and statistic, but for values) to its total over targets and lives."""
    rows = connection.sql(
        "select concept || case statistic when 'value' then '' else '_' || statistic end, sum(total)::double "
        "from concept_totals where statistic <> 'bucket' group by all"
    ).fetchall()
    return dict(rows)


def lives(connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.sql(
        "select parse_filename(file), position, life, resets from page_order order by position"
    ).fetchall()


def defects(connection: duckdb.DuckDBPyConnection) -> set[tuple[str, str, str]]:
    return set(connection.sql("select defect, action, split_part(detected_by, ' ', 1) from defects").fetchall())


def tokens(prompt: float, generation: float, start: float | None = None, engine: str = "0") -> str:
    begin = "" if start is None else f"process_start_time_seconds {start}\n"
    return (
        f'{begin}vllm:prompt_tokens_total{{engine="{engine}"}} {prompt}\n'
        f'vllm:generation_tokens_total{{engine="{engine}"}} {generation}\n'
    )


def phases(prefill: float, decode: float, ttft: float, itl: float, count: int = 10) -> str:
    sums = {"request_prefill_time": prefill, "request_decode_time": decode, "time_to_first_token": ttft}
    lines = [f"vllm:{name}_seconds_sum {value}\nvllm:{name}_seconds_count {count}\n" for name, value in sums.items()]
    return "".join([*lines, f"vllm:time_per_output_token_seconds_sum {itl}\nvllm:request_success_total 10\n"])


def test_order_is_by_recorded_time_and_else_natural(study: Loaded) -> None:
    timed = {"a/z-20261129T100000Z.prom": tokens(1, 1), "a/b-20261129T110000Z.prom": tokens(5, 5)}
    natural = {"b/t10.prom": tokens(7, 7), "b/t9.prom": tokens(4, 4)}
    connection = study(**timed, **natural)
    assert connection.sql("select file from page_order order by target, position").fetchall() == [
        ("a/z-20261129T100000Z.prom",), ("a/b-20261129T110000Z.prom",), ("b/t9.prom",), ("b/t10.prom",),
    ]  # fmt: skip
    assert totals(connection) == {"prompt_tokens": 4 + 3, "generation_tokens": 4 + 3}


def test_a_fall_of_one_counter_restarts_all_of_its_engine(study: Loaded) -> None:
    # generation_tokens grew again beyond its old value: only prompt_tokens shows the restart.
    connection = study(**{"1.prom": tokens(100, 10), "2.prom": tokens(40, 50), "3.prom": tokens(45, 70)})
    assert lives(connection) == [("1.prom", 0, 1, 0), ("2.prom", 1, 2, 1), ("3.prom", 2, 2, 0)]
    assert totals(connection) == {"prompt_tokens": 45, "generation_tokens": 70}


def test_a_restart_of_one_model_leaves_the_other_as_it_is(study: Loaded) -> None:
    line = 'vllm:prompt_tokens_total{{engine="0",model_name="{}"}} {}\n'
    values = [(10, 50), (40, 20), (100, 50)]
    connection = study(**{f"{n}.prom": line.format("a", a) + line.format("b", b) for n, (a, b) in enumerate(values, 1)})
    assert lives(connection) == [("1.prom", 0, 1, 0), ("2.prom", 1, 2, 1), ("3.prom", 2, 2, 0)]
    assert totals(connection) == {"prompt_tokens": (100 - 10) + 20 + (50 - 20)}


def test_a_changed_process_start_restarts_without_a_fall(study: Loaded) -> None:
    connection = study(**{"1.prom": tokens(10, 10, 1000), "2.prom": tokens(30, 30, 2000)})
    assert lives(connection)[1] == ("2.prom", 1, 2, 1)
    assert totals(connection) == {"prompt_tokens": 30, "generation_tokens": 30}


def test_frontends_that_alternate_are_differenced_each_by_itself(study: Loaded) -> None:
    starts = {"10": 1_700_000_000, "11": 1_700_000_001}
    pages = {"10": [100, 110], "11": [500, 540]}
    connection = study(
        **{f"20261129T{hour}0{n}00Z.prom": tokens(pages[hour][n], 0, starts[hour]) for n in (0, 1) for hour in pages}
    )
    # Order in time is 10:00, 10:01, 11:00, 11:01; make them alternate.
    assert totals(connection)["prompt_tokens"] == 10 + 40
    assert sum(row[3] for row in lives(connection)) == 0


def test_alternating_process_starts_are_a_named_defect(study: Loaded) -> None:
    pages = [(100, 1), (500, 2), (110, 1), (540, 2)]
    files = {
        f"20261129T100{n}00Z.prom": tokens(value, 0, 1_700_000_000 + process)
        for n, (value, process) in enumerate(pages)
    }
    connection = study(**files)
    assert totals(connection)["prompt_tokens"] == 10 + 40
    assert ("vllm-frontends-alternate", "corrected", "invariants") in defects(connection)


def test_a_series_new_on_a_whole_page_counts_from_zero_but_in_a_dump_it_is_a_baseline(study: Loaded) -> None:
    pages = {"a/1.prom": tokens(1, 1), "a/2.prom": tokens(1, 1) + tokens(8, 0, engine="1")}
    dump = "".join(
        f'{{__name__="vllm:prompt_tokens_total", engine="{engine}"}} {value} {1786929000000 + 1000 * at}\n'
        for engine, points in {"0": [(0, 10), (1, 20), (2, 30)], "1": [(1, 500), (2, 505)]}.items()
        for at, value in points
    )
    connection = study(**pages, **{"d/dump.prom": dump})
    rows = connection.sql(
        "select target, sum(total) from concept_totals where concept = 'prompt_tokens' group by 1 order by 1"
    )
    assert rows.fetchall() == [("a", 8.0), ("d", 25.0)]


def test_answers_of_one_query_each_are_one_sequence(study: Loaded) -> None:
    def answer(name: str, *points: tuple[int, str]) -> str:
        return json.dumps([{"metric": {"__name__": name, "instance": "i"}, "values": points}])

    connection = study(
        **{
            "prefill.json": answer("vllm:request_prefill_time_seconds_sum", (100, "1"), (160, "3")),
            "decode.json": answer("vllm:request_decode_time_seconds_sum", (160, "50"), (220, "57")),
        }
    )
    assert totals(connection) == {"prefill_time_sum": 2, "decode_time_sum": 7}
    assert connection.sql("select max(position), sum(resets) from page_order").fetchall() == [(2, 0)]


def test_a_share_from_answers_in_two_files(study: Loaded) -> None:
    def answer(name: str, *values: str) -> str:
        points = list(zip((100, 160), values, strict=True))
        return json.dumps([{"metric": {"__name__": f"vllm:request_{name}_time_seconds_sum"}, "values": points}])

    found = facts_metrics.facts(
        study(**{"a.json": answer("prefill", "1", "3"), "b.json": answer("decode", "50", "58")})
    )
    assert found is not None and found["prefill_share"] == 0.2


def test_old_and_new_name_of_one_metric_are_not_added(study: Loaded) -> None:
    both = "vllm:gpu_prefix_cache_hits_total 7\nvllm:prefix_cache_hits_total 7\n"
    connection = study(**{"new/1.prom": both, "old/1.prom": "vllm:gpu_prefix_cache_hits_total 5\n"})
    assert totals(connection) == {"prefix_cache_hits": 12}


def test_counter_with_and_without_total(study: Loaded) -> None:
    connection = study(**{"a/1.prom": "vllm:prompt_tokens 5\n", "b/1.prom": "vllm:prompt_tokens_total 6\n"})
    assert totals(connection) == {"prompt_tokens": 11}


def test_parts_of_one_concept_are_added(study: Loaded) -> None:
    connection = study(**{"1.prom": "llamacpp:prompt_tokens_total 5\nllamacpp:prompt_tokens_cached_total 3\n"})
    assert totals(connection)["prompt_tokens"] == 8
    assert facts_metrics.facts(connection)["prompt_tokens_by_source"] == {"local_cache_hit": 3, "local_compute": 5}  # type: ignore[index]


def test_gauges_are_combined_by_their_rule_and_never_by_process(study: Loaded) -> None:
    page = (
        'vllm:num_requests_running{engine="0",pid="1"} 2\nvllm:num_requests_running{engine="0",pid="2"} 2\n'
        'vllm:num_requests_running{engine="1"} 3\nvllm:kv_cache_usage_perc{engine="0"} 0.4\n'
        'vllm:kv_cache_usage_perc{engine="1"} 0.4\n'
        'vllm:cache_config_info{engine="0",kv_cache_size_tokens="1000"} 1\n'
        'vllm:cache_config_info{engine="1",kv_cache_size_tokens="None"} 1\n'
    )
    connection = study(**{"1.prom": page})
    rows = connection.sql("select concept, value from concept_gauges order by concept").fetchall()
    assert rows == [("kv_cache_usage", 0.4), ("pool_tokens", 1000.0), ("running_requests", 5.0)]


def test_swapped_phases_are_found_by_the_page_when_no_version_is_known(study: Loaded) -> None:
    connection = study(**{"1.prom": phases(prefill=900, decode=40, ttft=60, itl=950)})
    assert (totals(connection)["prefill_time_sum"], totals(connection)["decode_time_sum"]) == (40, 900)
    assert ("vllm-phases-swapped", "corrected", "invariants") in defects(connection)
    assert facts_metrics.facts(connection)["as_exported"] == {"prefill_s": 900, "decode_s": 40}  # type: ignore[index]


def test_a_page_whose_phases_fit_is_left_as_it_is(study: Loaded) -> None:
    connection = study(**{"1.prom": phases(prefill=40, decode=900, ttft=60, itl=950)})
    assert totals(connection)["prefill_time_sum"] == 40
    assert defects(connection) == set()


def test_a_known_version_decides_before_the_page(study: Loaded) -> None:
    boot = "INFO 11-20 09:00:01 api_server.py:585] vLLM API server version 0.6.6\n"
    boot += "INFO:     Application startup complete.\n"
    connection = study(**{"boots/a.log": boot, "1.prom": phases(prefill=900, decode=40, ttft=60, itl=950)})
    assert totals(connection)["prefill_time_sum"] == 900
    assert "vllm-phases-swapped" not in {defect for defect, *_ in defects(connection)}


def test_the_version_of_another_engine_decides_nothing(study: Loaded) -> None:
    boot = "[2026-11-29 10:00:00] server_args=ServerArgs(model_path='m', context_length=8192)\n"
    boot += "[2026-11-29 10:00:09] The server is fired up and ready to roll!\n"
    connection = study(**{"boots/a.log": boot, "1.prom": phases(prefill=900, decode=40, ttft=60, itl=950)})
    assert ("vllm-phases-swapped", "corrected", "invariants") in defects(connection)


def test_a_swap_is_found_beside_a_newer_engine(study: Loaded) -> None:
    newer = "vllm:inter_token_latency_seconds_sum 5\nvllm:inter_token_latency_seconds_count 5\n"
    connection = study(**{"old/1.prom": phases(prefill=900, decode=40, ttft=60, itl=950), "new/1.prom": newer})
    assert connection.sql("select scope from defects where defect = 'vllm-phases-swapped'").fetchall() == [("old",)]


@pytest.mark.parametrize("later", [-5_000_000.0, 5_000_000.0])
def test_uptime_sized_sums_are_left_out_and_said_so(study: Loaded, later: float) -> None:
    def page(decode: float, count: int) -> str:
        return (
            f"vllm:request_prefill_time_seconds_sum 4\nvllm:request_prefill_time_seconds_count {count}\n"
            f"vllm:request_decode_time_seconds_sum {decode}\nvllm:request_decode_time_seconds_count {count}\n"
            f"vllm:e2e_request_latency_seconds_sum 100\nvllm:e2e_request_latency_seconds_count {count}\n"
        )

    connection = study(**{"1.prom": page(50, 5), "2.prom": page(later, 6)})
    found = facts_metrics.facts(connection)
    assert found is not None
    assert (found["prefill_s"], found["decode_s"], found["prefill_share"], found["resets"]) == (None, None, None, 0)
    assert ("vllm-uptime-sized-sums", "excluded", "invariants") in defects(connection)


def test_client_aborts_show_as_first_tokens_that_never_finish(study: Loaded) -> None:
    page = (
        "vllm:time_to_first_token_seconds_count 12\nvllm:e2e_request_latency_seconds_count {done}\n"
        "vllm:num_requests_running 2\nvllm:num_requests_waiting 0\n"
    )
    assert defects(study(**{"1.prom": page.format(done=9)})) == {("vllm-client-aborts-missing", "warned", "invariants")}


def test_requests_in_flight_are_not_client_aborts(study: Loaded) -> None:
    page = (
        "vllm:time_to_first_token_seconds_count 12\nvllm:e2e_request_latency_seconds_count 10\n"
        "vllm:num_requests_running 2\nvllm:num_requests_waiting 0\n"
    )
    assert defects(study(**{"1.prom": page})) == set()


def test_prefix_cache_counters_in_blocks(study: Loaded) -> None:
    page = "vllm:prompt_tokens_total 16000\nvllm:gpu_prefix_cache_queries_total 1000\n"
    assert ("vllm-prefix-cache-in-blocks", "warned", "invariants") in defects(study(**{"1.prom": page}))


def test_a_page_as_a_json_string_is_a_named_defect(study: Loaded) -> None:
    page = json.dumps("# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total 5\n")
    connection = study(metrics=page)
    assert defects(connection) == {("llamacpp-page-as-json-string", "corrected", "invariants")}


def test_no_share_of_phases_that_end_on_different_pages(study: Loaded) -> None:
    whole = phases(prefill=10, decode=90, ttft=11, itl=100)
    later = phases(prefill=20, decode=180, ttft=22, itl=200)
    cut = later[: later.index("request_decode_time_seconds_sum 180") + 33]
    found = facts_metrics.facts(study(**{"1.prom": whole, "2.prom": later, "3.prom": cut.replace(" 20", " 30")}))
    assert found is not None
    assert (found["prefill_s"], found["decode_s"], found["prefill_share"]) == (20, 90, None)


def test_why_a_figure_is_missing(study: Loaded) -> None:
    nan = phases(prefill=10, decode=90, ttft=11, itl=100).replace(
        "prefill_time_seconds_sum 10", "prefill_time_seconds_sum NaN"
    )
    half = "vllm:request_prefill_time_seconds_sum 5\nvllm:request_prefill_time_seconds_count 5\n"
    spoilt = half.replace("sum 5", "sum -5") + "vllm:e2e_request_latency_seconds_sum 100\n"
    connection = study(**{"nan/1.prom": nan, "half/1.prom": half, "spoilt/1.prom": spoilt})
    shares = time_split.prefill_shares(connection, time_split.runs(connection))
    assert {e.qualifiers["target"]: e.reason for e in shares} == {
        "nan": "not computable: prefill_time is exported as NaN",
        "half": "not computable: the pages do not export decode_time",
        "spoilt": "not computable: prefill_time is left out because of the defect vllm-uptime-sized-sums; "
        "decode_time is left out because of the defect vllm-uptime-sized-sums",
    }


def test_without_the_last_bucket_the_sums_are_left(study: Loaded) -> None:
    page = "".join(line for line in SOUND.splitlines(keepends=True) if "+Inf" not in line)
    connection = study(**{"a/1.prom": page})
    [share] = time_split.prefill_shares(connection, time_split.runs(connection))
    assert (share.value, share.low, share.high) == (5 / 55, None, None)
    assert share.reason is not None and share.reason.startswith("part: the +Inf bucket is missing; rest: ")


def histogram(name: str, buckets: list[float], total: float, count: float) -> str:
    bounds = ["0.3", "1.0", "+Inf"]
    lines = [f'vllm:{name}_bucket{{le="{le}"}} {value}\n' for le, value in zip(bounds, buckets, strict=True)]
    return "".join([*lines, f"vllm:{name}_count {count}\n", f"vllm:{name}_sum {total}\n"])


QUEUE, PREFILL = "request_queue_time_seconds", "request_prefill_time_seconds"
DECODE, INFERENCE = "request_decode_time_seconds", "request_inference_time_seconds"
SOUND = (
    histogram(PREFILL, [2, 3, 4], 5, 4) + histogram(DECODE, [0, 0, 4], 50, 4) + histogram(INFERENCE, [0, 0, 4], 55, 4)
)


@pytest.mark.parametrize(
    ("check", "pages"),
    [
        ("metrics_bucket_order", [histogram(QUEUE, [3, 2, 4], 5, 4)]),
        ("metrics_bucket_total", [histogram(QUEUE, [2, 3, 4], 5, 5)]),
        ("metrics_phase_counts", [histogram(QUEUE, [2, 3, 4], 5, 4) + histogram(PREFILL, [2, 3, 5], 5, 5)]),
        ("metrics_phase_sums", [SOUND.replace("_sum 55", "_sum 56")]),
        ("metrics_sum_fits_buckets", [histogram(QUEUE, [0, 0, 4], 3.9, 4)]),
        ("metrics_sum_fits_buckets", [histogram(QUEUE, [4, 4, 4], 1.3, 4)]),
        ("metrics_phase_windows", [SOUND, SOUND, histogram(PREFILL, [2, 3, 4], 5, 4)]),
        ("metrics_negative_steps", [histogram(QUEUE, [2, 3, 4], 5, 4), histogram(QUEUE, [3, 3, 4], 5, 4)]),
        ("metrics_negative_steps", [histogram(QUEUE, [2, 3, 4], 5, 4), histogram(QUEUE, [2, 3, 5], 4, 5)]),
    ],
)
def test_each_check_finds_its_violation(study: Loaded, check: str, pages: list[str]) -> None:
    connection = study(**{f"{n}.prom": page for n, page in enumerate(pages)})
    rows = connection.sql((paths.CHECKS / f"{check}.sql").read_text())
    assert rows.columns[:2] == ["scope", "detail"] and len(rows.fetchall()) == 1


def families(*values: float) -> str:
    names = ["prompt_tokens_total", "generation_tokens_total", "num_preemptions_total", "prefix_cache_hits_total"]
    return "".join(f'vllm:{name}{{engine="0"}} {value}\n' for name, value in zip(names, values, strict=True))


ONE_FELL, ALL_FELL = [families(9, 9, 9, 9), families(12, 4, 12, 12)], [families(9, 9, 9, 9), families(1, 4, 2, 2)]


@pytest.mark.parametrize(
    ("pages", "falls_in_process", "lone_falls"),
    [
        ([tokens(10, 10, 1000), tokens(4, 4, 1000)], 1, 0),
        ([tokens(10, 10, 1000), tokens(4, 4, 1000), tokens(2, 2, 1000)], 2, 0),
        ([tokens(10, 10, 1000), tokens(4, 4, 1500)], 0, 0),
        ([tokens(10, 10), tokens(4, 4)], 0, 0),
        ([tokens(9, 9, 1000) + tokens(9, 9, engine="1"), tokens(4, 4, 1000) + tokens(12, 12, engine="1")], 0, 0),
        (ONE_FELL, 0, 1),
        (ALL_FELL, 0, 0),
        ([families(9, 9, 9, 9), families(12, 4, 2, 12)], 0, 0),
    ],
    ids=["fell", "twice", "new process", "no process start", "one of two engines", "one fell", "all fell", "half fell"],
)
def test_falls_that_no_restart_explains(
    study: Loaded, pages: list[str], falls_in_process: int, lone_falls: int
) -> None:
    connection = study(**{f"{n}.prom": page for n, page in enumerate(pages)})
    found = integrity.violations(connection)
    counts = [found.filter(check=f"metrics_{check}").height for check in ("fall_in_process", "lone_fall")]
    assert counts == [falls_in_process, lone_falls]
    # The run it touches is named, so that its share is not published.
    assert set(integrity.broken_runs(connection)) == ({"."} if falls_in_process or lone_falls else set())


@pytest.mark.parametrize("check", sorted(path.stem for path in paths.CHECKS.glob("metrics_*.sql")))
def test_no_check_finds_anything_on_sound_pages(study: Loaded, check: str) -> None:
    connection = study(**{"1.prom": SOUND, "2.prom": SOUND.replace(" 4\n", " 4.0\n")})
    assert connection.sql((paths.CHECKS / f"{check}.sql").read_text()).fetchall() == []


@pytest.mark.parametrize(
    "file", sorted([*paths.VIEWS.glob("*.sql"), *paths.CHECKS.glob("*.sql")]), ids=lambda p: p.stem
)
def test_the_first_line_is_the_grain(file: Path) -> None:
    first = file.read_text().splitlines()[0]
    assert first.startswith("-- one row per " if file.parent == paths.VIEWS else "-- ")


@pytest.mark.parametrize(
    ("content", "means"),
    [
        ("", "empty; "),
        ("\n \r\n", "empty; "),
        ("<html>\r\n<head><title>502 Bad Gateway</title></head></html>\n", "an HTML page (an error answer of a server"),
        ("\ufeff\n<!DOCTYPE html>\n<html></html>\n", "an HTML page (an error answer of a server"),
        ('{"detail":"Not Found"}', "JSON that begins like a server's error answer"),
        ("shopping list\n", "no reader recognises its content"),
    ],
    ids=["empty", "blank", "html", "doctype", "json", "other"],
)
def test_a_file_that_is_no_page_is_named_for_what_it_is(study: Loaded, content: str, means: str) -> None:
    connection = study(**{"metrics/1.prom": tokens(1, 1), "metrics/2.prom": content})
    row = connection.sql("select status, message from files where file = 'metrics/2.prom'").fetchall()[0]
    assert row[0] == "unrecognised" and row[1].startswith(means)
