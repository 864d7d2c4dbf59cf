"""The files of data/cluster-a: boots, pages and requests that carry the published figures exactly."""

import json
from collections import Counter
from collections.abc import Sequence
from math import pi, sin
from pathlib import Path

from analysis.reconstruct import vllm_page as pages
from analysis.reconstruct.figures import Figures
from analysis.reconstruct.traffic import WINDOWS, Request, requests, to_total
from analysis.reconstruct.vllm_log import Boot, log

NOTE = "reconstructed from published and assumed figures (study.toml): no engine wrote this file"
STARTED_S = 1785578400.0
"""2026-08-01T10:00:00Z: the dates are as good as any other."""
SERVED_S = STARTED_S + 120
SCRAPED = "production"
"""The boot that the metric pages belong to."""


def files(figures: Figures) -> dict[str, str]:
    """Every file of the study by its path in it; the same table gives the same bytes."""
    found = {f"boots/{name}.log": log(boot, NOTE) for name, boot in boots(figures).items()}
    return found | _pages(figures) | _long_request(figures) | _sweep(figures)


def write(figures: Figures, folder: Path) -> int:
    """Write the files below a folder; returns how many there are."""
    made = files(figures)
    for name, text in made.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    return len(made)


def boots(figures: Figures) -> dict[str, Boot]:
    """What each boot printed, by its name."""
    length, batch = figures.count("max_model_len"), figures.count("batch_tokens")
    longest = figures.count("len_1m")
    return {
        "production": Boot(length, batch, None, figures.count("pool_production")),
        "refused-16384": Boot(
            length, figures.count("refused_batch_tokens"), figures["refused_available_gib"], None,
            figures["refused_needed_gib"], figures.count("refused_longest_tokens"),
        ),
        "768k-a": Boot(length, batch, figures["available_a_gib"], figures.count("pool_a")),
        "768k-b": Boot(length, batch, figures["available_b_gib"], figures.count("pool_b")),
        "256k": Boot(
            figures.count("len_256k"), batch, figures["available_256k_gib"], figures.count("pool_256k")
        ),
        "1M": Boot(longest, batch, None, int(figures["concurrency_1m"] * longest)),
    }  # fmt: skip


def _pages(figures: Figures) -> dict[str, str]:
    """A page at each end of each scrape interval of the production boot."""
    traffic = requests(figures)
    steps = _steps(figures, traffic)
    found = {}
    for scrape in range(WINDOWS + 1):
        at_s = SERVED_S + scrape * figures.count("wall_s") / WINDOWS
        done = [request for request in traffic if request.window < scrape]
        body = _page(figures, done, steps[:scrape], scrape == WINDOWS)
        found[f"metrics/{SCRAPED}/{pages.file_name(at_s)}"] = body
    return found


def _page(figures: Figures, done: Sequence[Request], steps: Sequence[tuple[int, int]], is_last: bool) -> str:
    times = {
        "request_prefill_time_seconds": [r.prefill_ms for r in done],
        "request_decode_time_seconds": [r.decode_ms for r in done],
        "request_inference_time_seconds": [r.prefill_ms + r.decode_ms for r in done],
    }
    prompts = [r.prompt_tokens for r in done]
    lengths = pages.length_edges(figures.count("max_model_len"))
    # The counters of finish reasons run ahead of the histograms on the last page: what was published does not say why.
    of_length, of_all = (
        figures.count("finished_length"),
        figures.count("finished_length") + figures.count("finished_stop"),
    )
    finished = of_all if is_last else len(done)
    by_length = round(finished * of_length / of_all)
    families = [
        *(
            pages.histogram(name, pages.LATENCY_EDGES, Counter(ms / 1000 for ms in values), sum(values) / 1000)
            for name, values in times.items()
        ),
        pages.histogram("request_prompt_tokens", lengths, Counter(prompts), sum(prompts)),
        pages.histogram("request_prefill_kv_computed_tokens", lengths, Counter(prompts), sum(prompts)),
        _step_histogram(figures, prompts, steps),
        pages.counter("prompt_tokens_total", sum(prompts)),
        pages.counter("prefix_cache_queries_total", sum(prompts)),
        pages.counter("prefix_cache_hits_total", round(sum(prompts) * figures["prefix_hit_rate"])),
        pages.counters(
            "request_success_total", "finished_reason",
            {"stop": finished - by_length, "length": by_length, "abort": 0.0},
        ),
    ]  # fmt: skip
    return pages.page(families, STARTED_S, NOTE)


def _steps(figures: Figures, traffic: Sequence[Request]) -> list[tuple[int, int]]:
    """Small and larger steps of each scrape interval, without those that carry a prompt."""
    total = figures.count("steps")
    small = round(total * figures["small_steps_share"])
    swing = [1 + 0.5 * figures["drift"] * sin(2 * pi * at / WINDOWS) for at in range(WINDOWS)]
    each_small = to_total(swing, small)
    each_large = to_total([1 / s for s in swing], total - small - len(traffic))
    return list(zip(each_small, each_large, strict=True))


def _step_histogram(figures: Figures, prompts: Sequence[int], steps: Sequence[tuple[int, int]]) -> list[str]:
    """Steps by tokens; a whole prompt is booked on the step of its first token, as the engine does."""
    small, large = figures.count("small_step_tokens"), figures.count("large_step_tokens")
    seen = Counter({float(small): sum(s for s, _ in steps), float(large): sum(n for _, n in steps)})
    seen.update(Counter(float(tokens) for tokens in prompts))
    return pages.histogram("iteration_tokens_total", pages.STEP_EDGES, seen, sum(v * n for v, n in seen.items()))


def _long_request(figures: Figures) -> dict[str, str]:
    sent = SERVED_S + 600
    first = sent + figures["long_prefill_s"]
    row = {
        "request_id": "long-prompt", "sent_at": sent, "first_token_at": first,
        "finished_at": first + figures["long_decode_s"], "prompt_tokens": figures.count("long_prompt_tokens"),
        "status": "ok",
    }  # fmt: skip
    return {"requests/long-prompt/trace.jsonl": json.dumps(row) + "\n"}


def _sweep(figures: Figures) -> dict[str, str]:
    """One benchmark of each arm: throughputs that differ by the published share between the first and the last."""
    ends = figures["sweep_256k_over_1m"]
    over_last = {"256k": ends, "768k-a": 1 + (ends - 1) * figures["sweep_middle"], "1M": 1.0}
    found = {}
    for arm, ratio in over_last.items():
        rate, duration = figures["sweep_output_tokens_per_s"] * ratio, figures["sweep_duration_s"]
        result = {
            "date": "20260803-120000", "backend": "vllm", "model_id": pages.MODEL, "num_prompts": 100, "completed": 100,
            "duration": duration, "total_output_tokens": round(rate * duration), "output_throughput": rate,
            "request_throughput": 100 / duration,
        }  # fmt: skip
        found[f"requests/{arm}/bench.json"] = json.dumps(result) + "\n"
    return found
