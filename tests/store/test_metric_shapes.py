"""Shapes of metric pages that no hand-checked case covers, from the engines' sources and issue trackers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings import facts_metrics
from analysis.sources import prometheus_json, prometheus_text
from analysis.store.load import load

Facts = Callable[..., dict[str, Any]]


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """The metrics section of a study of the given pages, in their order."""

    def make(*pages: str, name: str = "{}.prom") -> dict[str, Any]:
        for number, text in enumerate(pages):
            path = tmp_path / "study" / name.format(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        load(tmp_path / "study", tmp_path / "store.duckdb")
        with duckdb.connect(str(tmp_path / "store.duckdb"), read_only=True) as connection:
            assert connection.sql("select count(*) from unparsed").fetchall() == [(0,)]
            found = facts_metrics.facts(connection)
        assert found is not None
        return found

    return make


def histogram(name: str, total: float, count: int, labels: str = "") -> str:
    """In the order of a multiprocess page: sum, buckets, count."""
    comma = "," if labels else ""
    return (
        f"# TYPE {name} histogram\n{name}_sum{{{labels}}} {total}\n"
        f'{name}_bucket{{{labels}{comma}le="+Inf"}} {count}\n{name}_count{{{labels}}} {count}\n'
    )


def test_vllm_multiprocess_page_of_two_engines_and_its_restart(facts: Facts) -> None:
    def page(n: int) -> str:
        engines = "".join(
            histogram("vllm:request_decode_time_seconds", 10.0 * n, n, f'engine="{e}",model_name="m"')
            + histogram("vllm:request_prefill_time_seconds", 1.0 * n, n, f'engine="{e}",model_name="m"')
            for e in (1, 0)
        )
        return engines + (
            'vllm:kv_cache_usage_perc{engine="0",model_name="m",pid="7"} 0.5\n'
            'vllm:kv_cache_usage_perc{engine="0",model_name="m",pid="8"} 0.5\n'
            'vllm:admission_rejections_total{model_name="m",reason="max_num_queued_reqs"} 0\n'
        )

    found = facts(page(4), page(6), page(3))
    assert (found["prefill_s"], found["decode_s"], found["resets"]) == (2 * (2 + 3), 20 * (2 + 3), 1)


def test_ray_underscore_names_and_a_replica_that_was_replaced(facts: Facts) -> None:
    def page(**workers: int) -> str:
        return "".join(
            f'ray_vllm_prompt_tokens_total{{ReplicaId="r",WorkerId="{worker}",engine="0"}} {value}\n'
            for worker, value in workers.items()
        )

    found = facts(page(a=100, b=50), page(a=130, c=20))
    assert (found["engine"], found["prompt_tokens"], found["resets"]) == ("vllm", 30 + 20, 0)


@pytest.mark.parametrize("name", ["gpu_execution_seconds_total", "forward_execution_seconds_total"])
def test_sglang_gpu_seconds_by_category_on_every_rank(name: str, facts: Facts) -> None:
    page = "".join(
        f'sglang:{name}{{category="{category}",dp_rank="{dp}",tp_rank="{tp}"}} {seconds}\n'
        for category, seconds in (("extend", 3.0), ("decode", 12.0), ("mixed", 5.0), ("idle", 80.0))
        for dp in (0, 1)
        for tp in (0, 1)
    )
    found = facts(page)
    assert (found["prefill_s"], found["decode_s"]) == (6.0, 24.0)
    assert found["time_basis"] == "engine batch time, not summed request time"


def test_sglang_speculation_decodes_in_passes_that_verify(facts: Facts) -> None:
    seconds = {"extend": 1.0, "split_prefill": 0.5, "decode": 2.0, "target_verify": 7.0, "idle": 80.0}
    found = facts(
        "".join(f'sglang:forward_execution_seconds_total{{category="{c}"}} {s}\n' for c, s in seconds.items())
    )
    assert (found["prefill_s"], found["decode_s"]) == (1.5, 9.0)


def test_trtllm_page(facts: Facts) -> None:
    page = (
        histogram("trtllm_request_prefill_time_seconds", 2.0, 8, 'model_name="m"')
        + histogram("trtllm_request_decode_time_seconds", 18.0, 8, 'model_name="m"')
        + 'trtllm_request_success_total{finished_reason="stop",model_name="m"} 8\n'
        + 'trtllm_kv_cache_utilization{model_name="m"} 0.25\ntrtllm_num_context_requests 1\n'
    )
    found = facts(page)
    assert (found["engine"], found["prefill_share"], found["finish"]) == ("tensorrt-llm", 0.1, {"stop": 8})


def test_trtllm_json_iteration_statistics_are_not_a_page() -> None:
    text = json.dumps([{"iter": 1, "iterLatencyMS": 5.1, "kvCacheStats": {"maxNumBlocks": 10}}])
    assert not prometheus_text.recognise(text, "metrics") and not prometheus_json.recognise(text, "metrics")


def test_lmdeploy_iterations_are_not_steps(facts: Facts) -> None:
    page = (
        histogram("lmdeploy:iteration_tokens_total", 900, 300, 'engine="0",model_name="m"')
        + histogram("lmdeploy:iter_token_latency", 30.0, 300, 'engine="0",model_name="m"')
        + histogram("lmdeploy:request_prefill_time_seconds", 1.5, 5, 'engine="0",model_name="m"')
        + 'lmdeploy:num_requests_succeeded{engine="0"} 5\n'
    )
    found = facts(page)
    assert (found["engine"], found["prefill_s"], found["steps"], found["requests"]) == ("lmdeploy", 1.5, None, None)


def test_vllm_0_10_with_old_and_new_names_side_by_side(facts: Facts) -> None:
    page = (
        "vllm:gpu_prefix_cache_queries_total 1000\nvllm:prefix_cache_queries_total 1000\n"
        "vllm:gpu_prefix_cache_hits_total 250\nvllm:prefix_cache_hits_total 250\n"
        "vllm:gpu_cache_usage_perc 0.3\nvllm:kv_cache_usage_perc 0.3\n"
    )
    assert facts(page)["prefix_cache"] == {"queries": 1000, "hits": 250, "hit_rate": 0.25}


def test_vllm_v0_tracing_histograms_in_milliseconds_are_not_phases(facts: Facts) -> None:
    page = (
        histogram("vllm:model_forward_time_milliseconds", 9e5, 40, 'model_name="m"')
        + histogram("vllm:time_in_queue_requests", 7.0, 40, 'model_name="m"')
        + 'vllm:tokens_total{model_name="m"} 0\nvllm:avg_prompt_throughput_toks_per_s{model_name="m"} 812.5\n'
        + 'vllm:cache_config_info{block_size="16",num_gpu_blocks="None",sliding_window="None"} 1.0\n'
    )
    found = facts(page)
    assert [found[k] for k in ("prefill_s", "decode_s", "queue_s", "prompt_tokens", "steps")] == [None] * 5
    assert "token_pool" not in found


def test_llamacpp_page_as_json_string_then_plain_after_an_upgrade(facts: Facts) -> None:
    page = "llamacpp:prompt_seconds_total {}\nllamacpp:tokens_predicted_seconds_total {}\n"
    head = "# TYPE llamacpp:prompt_seconds_total counter\n"
    found = facts(json.dumps(head + page.format(5, 50)), head + page.format(2, 11))
    assert (found["prefill_s"], found["decode_s"], found["resets"], found["pages_used"]) == (2, 11, 1, 2)


@pytest.mark.parametrize(
    "page",
    [
        '# TYPE vllm:current_qps gauge\nvllm:current_qps{server="http://a"} 1.5\n',
        '# HELP nv_inference_request_duration_us x\nnv_inference_request_duration_us{model="m",version="1"} 55000\n',
        '# TYPE inference_extension_scheduler_e2e_duration_seconds gauge\ninference_extension_x{a="b"} 3\n',
    ],
    ids=["vllm router", "triton", "llm-d"],
)
def test_pages_without_engine_families_give_nulls_not_zeros(facts: Facts, page: str) -> None:
    found = facts(page)
    empty = (
        "prefill_s",
        "decode_s",
        "queue_s",
        "requests",
        "finish",
        "prompt_tokens",
        "generation_tokens",
        "preemptions",
    )
    assert [found[key] for key in empty] == [None] * len(empty) and found["pages_used"] == 1


def test_federation_of_two_pods_with_their_own_time_stamps(facts: Facts) -> None:
    def page(at: int, a: float, b: float) -> str:
        return "# TYPE vllm:request_decode_time_seconds untyped\n" + "".join(
            f'vllm:request_decode_time_seconds_sum{{instance="{pod}:8000",job="vllm",pod="{pod}"}} {value} {at + lag}\n'
            for pod, value, lag in (("a", a, 0), ("b", b, 4000))
        )

    found = facts(page(1786929000000, 10, 90), page(1786929060000, 17, 5))
    assert (found["decode_s"], found["resets"], found["instances"]) == (7 + 5, 1, 2)


def test_quoted_utf8_names_and_labels(facts: Facts) -> None:
    page = '# TYPE "vllm:prompt_tokens_total" counter\n{"vllm:prompt_tokens_total","model.name"="x y"} 5\n'
    assert facts(page)["prompt_tokens"] == 5


def test_openmetrics_with_units_created_and_exemplars(facts: Facts) -> None:
    page = (
        "# TYPE vllm:request_decode_time_seconds histogram\n# UNIT vllm:request_decode_time_seconds seconds\n"
        'vllm:request_decode_time_seconds_bucket{le="+Inf"} 3 # {trace_id="}x"} 7.5 1786929000.1\n'
        "vllm:request_decode_time_seconds_count 3\nvllm:request_decode_time_seconds_sum 21.5\n"
        "vllm:request_decode_time_seconds_created 1786929000.5\n"
        "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total 30\n"
        "vllm:prompt_tokens_created 1786929000.5\n# EOF\n"
    )
    found = facts(page)
    assert (found["decode_s"], found["prompt_tokens"], found["window"]) == (21.5, 30, "single")
