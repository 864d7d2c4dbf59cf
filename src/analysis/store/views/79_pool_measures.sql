-- one row per boot: memory for the cache (GiB), pool (tokens) and longest requests side by side, as its log prints them
create view pool_measures as
select
    b.ordinal_in_study, b.boot, b.arm, b.outcome, b.engine, b.engine_version, b.pool_consistent,
    b.max_model_len_tokens as length, b.max_num_batched_tokens as "batch tokens",
    b.available_kv_gib_min as "memory (GiB)", b.token_pool_total_tokens as tokens,
    round(k.requests, 3) as "requests at that length", round(k.need_bytes / 1048576, 1) as "need of one (MiB)",
    case b.kv_budget_source when 'profiled' then 'profiled' else 'pinned: ' || replace(b.kv_budget_source, '_', ' ') end as budget
from boot_arms as b left join kv_boots as k using (boot);
