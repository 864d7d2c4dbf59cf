"""What arms are compared in. Imports nothing: labels need the words and not the statistics."""

MEASURES = {
    "output_tokens_per_s": ("throughput (output tokens/s)", "more"),
    "completed_per_hour": ("completed records per hour", "more"),
    "valid_per_hour": ("valid records per hour", "more"),
    "ttft_p50": ("time to first token, median", "less"),
    "ttft_p95": ("time to first token, p95", "less"),
    "inter_token_p99": ("between tokens, p99", "less"),
    "prefill_share": ("prefill share of request-seconds", ""),
    "pool": ("token pool", "more"),
    "available": ("memory for the KV cache", "more"),
    "engine_memory": ("memory of the engine without the cache", "less"),
    "peak_memory": ("peak memory of the engine's processes", "less"),
    "start_up": ("start-up, from the log's first line", "less"),
    "process_start_up": ("start-up, from the start of the process", "less"),
}
"""What arms are compared in: what a reader calls it, and which way is better (empty: neither)."""
QUANTILES = frozenset({"ttft_p50", "ttft_p95", "inter_token_p99"})
"""Those that are a median or another quantile of a boot's own values."""
QUANTILE = "A boot's median, p95 or p99 is the smallest of its values that at least this share does not exceed."
"""How view boot_measures takes them (quantile_disc): a recorded value, never one between two."""
