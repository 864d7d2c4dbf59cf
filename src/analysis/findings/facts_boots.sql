-- one row per boot, in the order of files and lines; a boot of a file that is a byte copy of an earlier one names that one's boot
with slots as (
    select boot, any_value(value)::bigint as slots from boot_facts where fact = 'n_slots' group by boot
)
select
    b.boot as id, b.file, b.engine, b.engine_version, b.model, b.outcome, b.outcome_line,
    coalesce(b.died_after_serving, false) as died_after_serving,
    b.max_model_len_tokens as max_model_len, b.requested_max_model_len_tokens as requested_max_model_len,
    b.max_num_batched_tokens, b.kv_dtype, b.kv_budget_source, b.compile_state,
    b.available_kv_gib, b.available_kv_gib_min, b.kv_needed_gib, b.estimated_max_len_tokens as estimated_max_len,
    b.engines, b.token_pool_tokens as token_pool, b.token_pool_by_engine, b.token_pool_total_tokens as token_pool_total,
    b.blocks, b.block_size_tokens as block_size, b.max_concurrency, b.pool_consistent,
    round(b.implied_pool_tokens)::bigint as implied_pool, b.ready_s, s.slots, b.api_servers,
    c.duplicate_of
from boots b
left join boot_copies c on c.boot = b.boot
left join slots s on s.boot = b.boot
order by b.rowid
