-- one row per (target, life, defect): a known defect that touches these pages, how it was found and what was done
-- A known version decides where it can; otherwise the invariants of the pages do, and detected_by says so.
create table target_defects as
with sums as (
    select
        target, life, any_value(engine) as engine,
        sum(value) filter (where concept = 'prefill_time' and statistic = 'sum') as prefill_s,
        sum(value) filter (where concept = 'decode_time' and statistic = 'sum') as decode_s,
        sum(value) filter (where concept = 'inference_time' and statistic = 'sum') as inference_s,
        coalesce(sum(value) filter (where concept = 'queue_time' and statistic = 'sum'), 0) as queue_s,
        sum(value) filter (where concept = 'ttft' and statistic = 'sum') as ttft_s,
        sum(value) filter (where concept = 'inter_token_latency' and statistic = 'sum') as itl_s,
        sum(value) filter (where concept = 'e2e_time' and statistic = 'sum') as e2e_s,
        sum(value) filter (where concept = 'prefill_time' and statistic = 'count') as prefill_count,
        sum(value) filter (where concept = 'decode_time' and statistic = 'count') as decode_count,
        sum(value) filter (where concept = 'ttft' and statistic = 'count') as ttft_count,
        sum(value) filter (where concept = 'e2e_time' and statistic = 'count') as e2e_count,
        sum(value) filter (where concept = 'prompt_tokens') as prompt_tokens,
        sum(value) filter (where concept = 'prefix_cache_queries') as prefix_queries,
        sum(value) filter (where concept = 'iteration_tokens' and statistic = 'count') as iterations
    from life_values group by target, life
),

processes as (
    select
        page_order.target, page_order.life, count(distinct concepts.engine_label) as engines,
        bool_or(concepts.engine_label is not null) as has_engine_label, bool_or(concepts."exclude") as has_ranks,
        bool_or(files.format = 'prometheus-json-string') as is_json_string,
        any_value(page_order.process_start_s) is null as is_multiprocess,
        max(boots.api_servers) as api_servers,
        sum(samples.value) filter (where concepts.concept in ('running_requests', 'waiting_requests')
            and page_order.position = last_position) as in_flight
    from page_order
    join (select target, life, max(position) as last_position from page_order group by target, life) using (target, life)
    join samples on page_order.page = samples.page
    join concept_series as concepts on samples.series = concepts.series
    left join files on page_order.file = files.file
    left join boot_pages on page_order.page = boot_pages.page
    left join boots on boot_pages.boot = boots.boot
    group by page_order.target, page_order.life
),

alternating as (
    select target, life from page_order
    group by target, life having max(position) - min(position) + 1 > count(distinct position)
),

falling as (
    select pages.target, pages.life from series_steps as steps
    join concept_series as concepts on steps.series = concepts.series join page_order as pages on steps.page = pages.page
    where steps.increase < 0 and concepts.statistic = 'sum' group by pages.target, pages.life
),

found(target, life, defect, detail) as (
    select target, life, 'vllm-phases-swapped', format('"prefill" {:.6g} s + queue {:.6g} s > TTFT {:.6g} s, and swapped they fit', prefill_s, queue_s, ttft_s)
    from sums where prefill_s + queue_s > ttft_s * (1 + 1e-6) and decode_s + queue_s <= ttft_s * (1 + 1e-6) and prefill_s <= itl_s * (1 + 1e-6)
    union all
    select target, life, 'vllm-prefix-cache-in-blocks', format('{:.0f} lookups for {:.0f} prompt tokens', prefix_queries, prompt_tokens)
    from sums where prefix_queries < prompt_tokens / 4 and prefix_queries > 0
    union all
    select target, life, 'vllm-uptime-sized-sums', 'a sum of times is negative, fell, or exceeds the end-to-end time'
    from sums where least(prefill_s, decode_s, inference_s, queue_s) < 0 or greatest(prefill_s, decode_s, inference_s, queue_s) > e2e_s * 1.01 + 1
    union
    select target, life, 'vllm-uptime-sized-sums', 'a sum of times is negative, fell, or exceeds the end-to-end time' from falling
    union all
    select sums.target, sums.life, 'vllm-client-aborts-missing', format('{:.0f} first tokens, {:.0f} finished, {:.0f} in flight', ttft_count, e2e_count, in_flight)
    from sums join processes using (target, life) where ttft_count > e2e_count + in_flight
    union all
    select sums.target, sums.life, 'vllm-iteration-tokens-booking', format('{:.0f} observations', iterations)
    from sums join processes using (target, life) where iterations > 0 and has_engine_label
    union all
    select sums.target, sums.life, 'vllm-steps-per-frontend', coalesce(api_servers || ' API servers', 'several engines on a page without a process start')
    from sums join processes using (target, life)
    where iterations > 0 and (api_servers > 1 or (api_servers is null and engines > 1 and is_multiprocess))
    union all
    select target, life, 'vllm-frontends-alternate', 'the process start goes back and forth' from alternating
    union all
    select target, life, 'vllm-phase-counts-differ', format('prefill {:.0f}, decode {:.0f}', prefill_count, decode_count) from sums where prefill_count <> decode_count
    union all
    select target, life, 'sglang-rank-duplicates', 'equal series on several ranks' from processes where has_ranks
    union all
    select target, life, 'llamacpp-page-as-json-string', 'decoded' from processes where is_json_string
),

touched as (
    select distinct target, life, engine, concept from life_values
)

select
    lives.target, lives.life, lives.engine, versions.engine_version, known.defect, known.versions, known.action, known.swaps, known.concepts,
    case when known.by_version and versions.version_key is not null then 'version ' || versions.engine_version else 'invariants of the page' end as detected_by,
    known.what || coalesce(' (' || found.detail || ')', '') as detail
from (select distinct target, life, engine from touched) as lives
join known_defects as known on lives.engine = known.engine
left join target_versions as versions
    on lives.target = versions.target and lives.life = versions.life and lives.engine = versions.engine
left join found on lives.target = found.target and lives.life = found.life and known.defect = found.defect
where (versions.version_key is null or (
        (known.since_key is null or versions.version_key >= known.since_key)
        and (known.until_key is null or versions.version_key < known.until_key)))
    and case when known.by_version and versions.version_key is not null
        then exists (from touched where touched.target = lives.target and touched.life = lives.life and list_contains(known.concepts, touched.concept))
        else found.defect is not null end;
