-- one row per boot that prints its length and memory for the cache or a pool: what a longest request needs, and how many fit
-- `need_bytes` is printed by a refusal; else it is available memory x length / pool, or over the concurrency where the pool that is
-- printed beside it disagrees with it. Logs round GiB to two decimals; in a transcribed study a figure has the decimals that it shows.
create view kv_boots as
with transcribed as (select count(*) > 0 as is_transcribed from study_facts where key = 'transcribed'),

decimals as (
    select
        boot,
        min(length(regexp_extract(text, '\.(\d+)$', 1))) filter (where fact in ('kv_needed', 'refusal_available_kv')) as refused,
        min(length(regexp_extract(text, '\.(\d+)$', 1))) filter (where fact in ('available_kv', 'pinned_kv')) as served
    from boot_facts group by boot
),

read as (
    select
        boot_arms.*,
        max_model_len_tokens as length_tokens,
        max_num_batched_tokens as batch_tokens,
        case when is_transcribed then 0.5 * power(10, -coalesce(if(outcome = 'refused', refused, served), 2)) else 0.005 end
            * 1073741824 as rounding_bytes,
        case
            when token_pool_tokens > 0 and coalesce(pool_consistent, true) then token_pool_tokens / max_model_len_tokens
            when max_concurrency > 0 then max_concurrency
        end as fitting
    from boot_arms left join decimals using (boot) cross join transcribed
    where max_model_len_tokens > 0 and (available_kv_bytes is not null or token_pool_tokens > 0)
)

select
    boot, arm, outcome, ordinal_in_study, engine, engine_version, model, kv_dtype, host, compile_state, kv_budget_source, utilization,
    request_setting, population, length_tokens, batch_tokens, available_kv_bytes as available_bytes, rounding_bytes,
    kv_needed_gib * 1073741824 as refused_need_bytes, estimated_max_len_tokens as estimated_length_tokens,
    token_pool_tokens, max_concurrency,
    case
        when kv_needed_gib > 0 then kv_needed_gib * 1073741824
        when available_kv_bytes > 0 and fitting > 0 then available_kv_bytes / fitting
    end as need_bytes,
    case
        when kv_needed_gib > 0 then rounding_bytes
        when available_kv_bytes > 0 and fitting > 0 then
            rounding_bytes / fitting
            -- The concurrency is printed with two decimals; the pool is whole tokens.
            + if(token_pool_tokens > 0 and coalesce(pool_consistent, true), 0, 0.005 * available_kv_bytes / fitting / fitting)
    end as need_rounding_bytes,
    case
        when kv_needed_gib > 0 then 'refusal message'
        when available_kv_bytes > 0 and fitting > 0
            then if(token_pool_tokens > 0 and coalesce(pool_consistent, true), 'memory and pool', 'memory and concurrency')
    end as need_from,
    case
        when fitting > 0 then fitting
        when kv_needed_gib > 0 and available_kv_bytes >= 0 then available_kv_bytes / (kv_needed_gib * 1073741824)
    end as requests
from read;
