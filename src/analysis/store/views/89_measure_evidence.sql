-- one row per (boot, measure, class, line): the lines of files that a number of boot_measures was made of; class is null as there
-- Of a quantile the record that has it, of a rate the first request sent and the last end of each file, of counters the first and last page.
-- `line`, `series`, `labels` and `quote` are null where they are not known; `said` is what stands there.
create view measure_evidence as
with counted as (
    select
        request_boots.boot, coalesce(class, 'unlabelled') as class, metrics.* exclude (class),
        coalesce(finished_at_s, last_token_at_s, sent_at_s + e2e_s) as end_s
    from request_metrics as metrics join request_boots using (file)
    where is_counted
),

measured as materialized (select * from boot_measures where class is not null),

ends as (
    select
        boot, class, file,
        first(line order by sent_at_s nulls last, ordinal) as first_line,
        first(line order by end_s desc nulls last, ordinal desc) as last_line,
        count(*) filter (is_completed) as completed, count(*) filter (is_completed and valid) as valid
    from counted group by boot, class, file
),

at_rank as (
    select measured.boot, measure, class, file, min(line) as line, any_value(measured.value) as value
    from measured join counted using (boot, class)
    where is_completed and case measure
        when 'ttft_p50' then ttft_s = measured.value
        when 'ttft_p95' then ttft_s = measured.value
        when 'inter_token_p99' then (itl_is_recorded or token_event = 'token') and list_contains(itl_s, measured.value) end
    group by measured.boot, measure, class, file
),

printed as (
    select boot, fact, file, line, quote, value,
        max(value) over (partition by boot, fact) as most
    from boot_facts
    where fact in ('token_pool', 'gpu_blocks', 'blocks', 'available_kv', 'pinned_kv', 'refusal_available_kv', 'memory_consumed')
)

select
    run as boot, measure, null::varchar as class, file, line, name as series, labels, place || ', where it is ' || printf('%.12g', value) as said,
    null::varchar as quote
from run_evidence join (values
    ('generation_tokens', 'output_tokens_per_s'), ('prefill_time', 'prefill_share'), ('decode_time', 'prefill_share')
) as of_measure (concept, measure) using (concept)
union all
select boot, measure, class, file, unnest([first_line, last_line]), null, null,
    unnest(['first request sent', 'last end']) || ', of ' || case measure when 'valid_per_hour' then valid || ' valid' else completed || ' completed' end, null
from ends join measured using (boot, class) where measure in ('completed_per_hour', 'valid_per_hour')
union all
select boot, measure, class, file, line, null, null, 'a request with this value: ' || printf('%.6g', value) || ' s', null from at_rank
union all
select distinct boot, measure, null, file, line, null, null, null, quote
from printed join (values
    ('token_pool', 'pool'), ('gpu_blocks', 'pool'), ('blocks', 'pool'), ('available_kv', 'available'), ('pinned_kv', 'available'),
    ('refusal_available_kv', 'available'), ('memory_consumed', 'engine_memory')
) as of_measure (fact, measure) using (fact)
where measure <> 'engine_memory' or value = most
union all
select boot, 'start_up', null, file, unnest([first_line, outcome_line]), null, null, unnest(['first line', 'ready']), null
from boots where ready_s > 0
union all
select boot, 'process_start_up', null, file, line, null, null, 'as declared', null from start_ups where process_s is not null
union all
select split_part(parse_filename(file), '.', 1), 'peak_memory', null, arg_max(file, value), arg_max(line, value), 'engine_rss', null,
    'highest of ' || count(*) || ' samples', null
from host_counters where counter = 'engine_rss' group by all;
