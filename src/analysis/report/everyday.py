"""Everyday words for what the pages answer: who searches for "slow" or "OOM" is led to the page that has it.

The pages use the terms of docs/glossary.md; these are the words that people come with.
"""

WORDS = {
    "10-inventory": "files versions config configuration settings flags setup hardware gpu crash crashed bug errors",
    "10-inventory#next-time": "missing record collect capture howto",
    "20-where-time-goes": "bottleneck slow time speed breakdown profile utilization busy idle",
    "20-where-time-goes#wall-clock-what-the-seconds-were-spent-in": "idle busy utilization gpu",
    "20-where-time-goes#how-requests-ended-and-what-the-prefix-cache-gave": "errors aborted timeout cache hits caching",
    "20-where-time-goes#preemptions-and-the-queue": "waiting backlog overload full queueing",
    "25-levers": "tune tuning optimize optimise improve faster speedup slow cost fix recommendation advice",
    "25-levers#by-the-length-of-the-prompt": "context long rag",
    "25-levers#rates-and-the-load-that-is-not-one": "throughput speed tps",
    "25-levers#decode-against-the-hardware": "bandwidth gpu hardware limit roofline",
    "30-kv-budget": "memory oom out of vram kv cache batch size max_num_batched_tokens max_model_len",
    "30-kv-budget#where-the-memory-of-each-boot-went": "weights activations footprint breakdown vram",
    "30-kv-budget#will-the-next-boot-start-along-batch-tokens": "oom startup refuse fail crash safe",
    "30-kv-budget#along-the-context-length": "oom max_model_len long context",
    "40-token-pool": "memory oom out of vram kv cache capacity concurrency size",
    "50-arms": "compare comparison better best faster benchmark regression upgrade throughput",
    "50-arms#start-up": "startup cold start boot load time slow",
    "60-mixed-traffic": "latency slo sla interactive chat batch percentiles p95 p99 tail goodput",
    "60-mixed-traffic#first-tokens": "ttft latency slow responsive",
    "60-mixed-traffic#all-times": "latency tpot itl e2e p50 p95 p99",
    "60-mixed-traffic#valid-records-per-hour": "throughput rate capacity",
    "60-mixed-traffic#memory-power-and-headroom": "memory power watt utilization capacity",
    "60-mixed-traffic#energy-per-task": "cost power watt joule",
    "65-degradation": "slow slower slowdown throttling thermal swap regression drift leak health",
    "70-whose-turn": "stall stutter freeze hang jitter latency fairness chunked scheduling blocking",
    "80-decision": "retest decide choice why",
    "85-fleet": "nodes cluster instances outlier straggler loadbalancing version skew",
    "90-takeaways": "claims paper verify reproduce blog",
    "numbers": "evidence source data method",
}
"""Words by page, or by section of a page."""
