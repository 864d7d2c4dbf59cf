-- one row per (boot, measure, class): what arms are compared in, one number a boot; class is null for the engine as a whole
-- A rate of clients whose loads ran on clocks that do not compare is the sum of the clocks' rates: `note` says so.
create view boot_measures as
with clock_rates as (
    -- phases of one clock follow each other: the pauses between them are in no span
    select
        boot, class, clock,
        sum(completed) as completed, sum(judged) as judged, sum(valid) as valid, sum(span_s) as span_s,
        count(*) over (partition by boot, class) as clocks
    from class_loads
    where completed > 0 and span_s > 0
    group by boot, class, clock
),

rates as (
    select
        boot, class,
        sum(completed / span_s * 3600)::double as completed_per_hour,
        case when sum(judged) = sum(completed) then sum(valid / span_s * 3600)::double end as valid_per_hour,
        case when max(clocks) > 1
            then 'loads on ' || max(clocks) || ' clocks that do not compare are taken to have run side by side' end as note
    from clock_rates
    group by boot, class
),

-- a boot that answered a few test requests carried no load
sizes as (
    select boot, max(n) as requests
    from (
        select boot, sum(total) as n from run_totals
        where statistic = 'count' and le is null and key is null and concept in ('prefill_time', 'e2e_time', 'ttft')
        group by boot, concept
        union all
        select boot, sum(completed) from class_loads group by boot
    )
    group by boot
),

answers as (
    select
        boot, coalesce(class, 'unlabelled') as class,
        count(ttft_s) as ttfts,
        quantile_disc(ttft_s, 0.5) as ttft_p50, quantile_disc(ttft_s, 0.95) as ttft_p95
    from request_metrics join request_boots using (file)
    where is_counted and is_completed
    group by all
),

gaps as (
    select boot, class, count(*) as gaps, quantile_disc(gap, 0.99) as inter_token_p99
    from (
        select boot, coalesce(class, 'unlabelled') as class, unnest(itl_s) as gap
        from request_metrics join request_boots using (file)
        -- gaps between chunks are token latencies only where a chunk is a token, or the tool itself wrote them as such
        where is_counted and is_completed and (itl_is_recorded or token_event = 'token')
    )
    group by all
),

server as (
    select
        boot, run,
        sum(total) filter (concept = 'generation_tokens') as tokens,
        coalesce(
            sum(total) filter (concept = 'prefill_time' and statistic = 'sum'),
            sum(total) filter (concept = 'prefill_time' and statistic = 'value')
        ) as prefill_s,
        coalesce(
            sum(total) filter (concept = 'decode_time' and statistic = 'sum'),
            sum(total) filter (concept = 'decode_time' and statistic = 'value')
        ) as decode_s
    from run_totals
    where key is null and concept in ('generation_tokens', 'prefill_time', 'decode_time')
        and boot in (select boot from boots)
        and boot not in (select boot from sizes where requests < 8)
        and boot not in (select boot from boots where died_after_serving)
    group by boot, run
),

peak as (
    select arm_boots.boot, max(value) as bytes
    from host_counters
    join arm_boots on split_part(parse_filename(host_counters.file), '.', 1) = arm_boots.boot
    where counter = 'engine_rss'
    group by arm_boots.boot
),

consumed as (
    select boot, max(value) * 1073741824 as bytes
    from boot_facts where fact = 'memory_consumed' and unit = 'GiB' group by boot
)

select boot, 'output_tokens_per_s' as measure, null::varchar as class, tokens / coalesce(busy_s, wall_s) as value,
    case when busy_s is null then 'idle seconds are in the clock: the pages do not say how many requests ran' end as note
from server join run_clock using (run)
where tokens > 0 and coalesce(busy_s, wall_s) > 0
union all
select boot, 'prefill_share', null, prefill_s / (prefill_s + decode_s), null from server where prefill_s + decode_s > 0
union all
select boot, 'completed_per_hour', class, completed_per_hour, note from rates
union all
select boot, 'valid_per_hour', class, valid_per_hour, note from rates where valid_per_hour is not null
union all
select boot, 'ttft_p50', class, ttft_p50, null from answers where ttfts >= 6
union all
-- a 95 % quantile of fewer than twenty values is their largest
select boot, 'ttft_p95', class, ttft_p95, null from answers where ttfts >= 20
union all
select boot, 'inter_token_p99', class, inter_token_p99, null from gaps where gaps >= 100
union all
select boot, 'pool', null, token_pool_total_tokens, null from arm_boots where token_pool_total_tokens is not null
union all
select boot, 'available', null, available_kv_bytes, null from arm_boots where available_kv_bytes is not null
union all
select boot, 'start_up', null, ready_s, null from arm_boots where ready_s > 0
union all
select boot, 'process_start_up', null, process_ready_s, null from arm_boots where process_ready_s is not null
union all
select boot, 'engine_memory', null, bytes, null from consumed
union all
select boot, 'peak_memory', null, bytes, null from peak where bytes > 0;
