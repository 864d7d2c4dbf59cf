"""What a reader calls each number: results ids in words, and how their qualifiers read."""

from collections.abc import Sequence

from analysis.estimates.estimate import Estimate
from analysis.findings.arm_measures import MEASURES

LABELS = {
    "time.prefill_share.request_seconds": "prefill share of prefill and decode time",
    "time.prefill_share.request_seconds.bound": "widest that the interval of the prefill share could be",
    "time.queue_seconds": "seconds in the queue",
    "time.prefill_seconds": "seconds of prefill",
    "time.decode_seconds": "seconds of decode",
    "time.prefill_share.step_time": "prefill share of engine step time",
    "time.prefill_share.step_time_range": "range of the prefill share of engine step time",
    "time.prefill_share.step_time_from_traces": "prefill share of engine step time, as clients' clocks show it",
    "time.prefill_share.wall_clock": "share of wall-clock time with a prefill running",
    "time.wall_state": "share of wall-clock time",
    "time.mean_concurrency": "mean number of requests at once",
    "time.prefill_share.step_time_from_counters": "range of the prefill share of engine step time that counters allow",
    "time.prefill_held_share": "share of request time that some prefill holds",
    "time.queue_share": "share of queue and inference time spent in the queue",
    "time.residual_share": "end-to-end time that no phase explains",
    "time.lever_ceiling": "what could be gained",
    "rate.prompt_tokens_over_wall_clock": "prompt tokens over the whole time",
    "rate.prefill.mean": "mean prefill rate",
    "rate.prefill.median_window": "prefill rate, median scrape interval",
    "rate.prefill.peak_window": "prefill rate, highest scrape interval",
    "rate.prefill.slope": "prefill rate, slope over prompt lengths",
    "rate.quoted_over": "quoted figure over the computed rate",
    "length.prefill_seconds": "mean seconds of prefill",
    "length.decode_seconds": "mean seconds of decode",
    "length.prefill_share": "prefill share of prefill and decode time",
    "at_length.prefill_seconds": "seconds of prefill of such a request",
    "at_length.decode_seconds": "seconds of decode of such a request",
    "at_length.prefill_share": "prefill share of such a request",
    "decode.steps_per_second": "decode steps per second",
    "decode.steps_ceiling": "most decode steps per second that the memory allows",
    "decode.bandwidth_share": "share of the memory bandwidth that reading the weights takes",
    "decode.read_bytes_per_second": "bytes read per second, as the engine estimates",
    "preemptions.per_request": "preemptions per finished request",
    "steps.share_at_most": "share of engine steps of at most this size",
    "steps.share_at_most_range": "range of that share, with steps that are not recorded",
    "finish.share": "share of finished requests",
    "cache.prefix_hit_rate": "prefix cache hit rate",
    "cache.computed_share": "share of prompt tokens that were computed",
    "cache.peak_use": "fullest that the cache was seen",
    "time.requests": "requests in the time histograms",
    "finish.unmatched": "finish reasons beyond the requests in the time histograms",
    "rate.prefill.longest_prompt": "rate of the longest prompt, by its client's clock",
    "boots.outcome_count": "boots",
    "pool.in_bytes": "token pool in bytes, by what other boots print",
    "pool.range": "how far boots of one setting lie apart",
    "refusal.needed": "memory that one longest request needs",
    "refusal.longest": "longest request that would have fitted",
    "pool.tokens": "token pool",
    "pool.available": "memory available to the cache",
    "pool.requests_at_max_length": "longest requests that fit at once",
    "pool.spread": "spread over the boots",
    "pool.next_boot": "the next boot",
    "pool.compile_step": "warm over cold compile cache",
    "pool.spread_ratio": "spread of the memory over spread of the pool",
    "pool.identity": "disagreement of boots on what a longest request takes",
    "kv.cost_per_batch_token": "cache memory lost for each further batch token",
    "kv.requests_lost_per_batch_token": "longest requests lost for each further batch token",
    "kv.memory_taken": "memory taken from the cache",
    "kv.need_grown": "growth of what a longest request needs",
    "kv.request_need": "cache memory of one longest request",
    "kv.request_fixed": "cache memory of a request, whatever its length",
    "kv.request_per_token": "cache memory for each token",
    "kv.refusal_probability": "probability that a boot is refused",
    "kv.predicted_available": "memory left for the cache, predicted",
    "claims.verdict_count": "published claims",
    "arms.ratio": "ratio of arms",
    "arms.range": "how far the arms lie apart",
    "mixed.ttft": "time to first token",
    "mixed.inter_token": "time between tokens",
    "mixed.completion": "time to the last token",
    "mixed.valid_records_per_hour": "valid records",
    "turn.stall_share": "longest stall, as share of the longest prompt's turn",
    "turn.block_tokens": "prompt tokens in one block",
    "turn.overtaking_share": "short prompts served before a long one that came first",
    "turn.dose": "longest stall for each second of a turn",
    "mixed.decode_rate": "decode rate of a stream",
    "mixed.effect": "change beside the other class",
    "mixed.requests": "requests",
    "mixed.goodput": "goodput",
    "mixed.target_ratio": "measured over target",
    "mixed.queue": "queue wait",
    "mixed.prefill": "prefill time",
    "mixed.requests_peak": "most requests at once",
    "mixed.kv_cache_peak": "fullest cache",
    "mixed.host_peak": "peak on the host",
    "mixed.headroom": "headroom",
    "mixed.energy_per_task": "energy of a completed request",
    "mixed.load_seconds": "start-up time",
    "degradation.fallback_lines": "kinds of fallback in the boot log",
    "degradation.decode_drift": "decode rate at the end over the beginning",
    "decision.condition": "retest condition has come true",
    "decision.conditions_true": "retest conditions that have come true",
    "fleet.replicas": "replicas",
    "fleet.prefill_share": "prefill share of the fleet",
    "fleet.settings": "different settings",
    "fleet.expected": "where a replica like the others lies",
    "fleet.unlike": "replicas unlike the others",
}  # docs/results.md has each id with its unit and meaning


_BARE = {"measure", "outcome", "verdict"}
"""Qualifiers whose value says by itself what it is."""
_NAMES = {"a": "base", "b": "arm"}
"""Qualifiers that are called otherwise."""
_VALUES = {("measure", measure): text for measure, (text, _) in MEASURES.items()} | {
    ("lever", "prefix_cache"): "prefix cache",
    ("lever", "output_tokens"): "output tokens",
    ("measure", "available"): "available memory",
    ("measure", "tokens"): "token pool",
}


def place(key: str, values: Sequence[str]) -> str:
    """A qualifier with its values in words: "arm F", "arms F, R", "token pool"."""
    words = ", ".join(_VALUES.get((key, value), value) for value in values)
    if key in _BARE:
        return words
    name = _NAMES.get(key, key.replace("_", " "))
    plural = len(values) > 1 and not name.endswith("tokens")
    return f"{name}{('es' if name.endswith('s') else 's') if plural else ''} {words}"


def label(estimate: Estimate) -> str:
    """The number in words, with its qualifiers: "token pool (boot b-03)"; the id where there are none."""
    name = LABELS.get(estimate.id) or estimate.id or estimate.method
    qualifiers = ", ".join(place(k, (str(v),)) for k, v in sorted(estimate.qualifiers.items()))
    return f"{name} ({qualifiers})" if qualifiers else name
