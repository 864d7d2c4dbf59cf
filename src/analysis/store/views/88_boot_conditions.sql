-- one row per (boot, condition, class): what must be alike in arms that are compared, as text, and as a number where it is one
-- class is null where the condition is one of the boot. Conditions of the load are those of boots that answered eight requests or more.
-- Those of the host are of boots that have host samples: the load average and memory of the first one, the CPUs as study.toml has them.
create view boot_conditions as
with named as (
    select file, regexp_extract(key, '^boots\[\d+\]') as place, trim(both '"' from value) as boot
    from study_facts where regexp_full_match(key, 'boots\[\d+\]\.id')
),

stated as (
    select named.boot, regexp_extract(facts.key, '\.(\w+)$', 1) as name, facts.value
    from named join study_facts as facts using (file)
    where starts_with(facts.key, place || '.')
        and regexp_matches(facts.key, '^boots\[\d+\]\.(sampling|input_set|template|bench_commands)$')
),

options as (
    select distinct boot, unnest(regexp_extract_all(value, '--[a-z][a-z0-9-]*(?:[ =](?:[^-" \[\],][^ ",]*))?')) as option
    from stated where name = 'bench_commands'
),

loaded as (
    select boot, sum(completed) as completed, sum(failed) as failed, sum(aborted) as aborted, sum(incomplete) as incomplete,
        sum(requests) as requests
    from class_loads group by boot having sum(completed) >= 8
),

of_class as (
    select
        boot, coalesce(class, 'unlabelled') as class,
        avg(prompt_tokens) filter (is_counted and is_completed) as prompt_tokens,
        count(*) filter (is_warmup) as warmups
    from request_metrics join request_boots using (file)
    group by all
),

phases as (
    select boot, string_agg(distinct phase, ', ' order by phase) as value
    from request_metrics join request_boots using (file)
    where is_counted and phase is not null
    group by boot
),

-- Figures of a class are over all its requests: arms with other shares in a phase differ for that alone.
shares as (
    select
        boot, class, phase, n / sum(n) over (partition by boot, class) as share,
        -- In any boot: one that was sent a class in a single phase differs most.
        min(phase) over (partition by class) < max(phase) over (partition by class) as has_several
    from (
        select boot, coalesce(class, 'unlabelled') as class, phase, count(*) as n
        from request_metrics join request_boots using (file)
        where is_counted and is_completed and phase is not null
        group by all
    )
),

concurrency as (
    select boot, string_agg(distinct concurrency::integer::varchar, ' and ' order by concurrency::integer::varchar) as value
    from request_runs join request_boots using (file)
    where concurrency is not null
    group by boot
),

spans as (
    select boot, max(seconds) as seconds
    from (select boot, class, clock, sum(span_s) as seconds from class_loads group by all)
    group by boot
),

first_pages as (
    select boot, min_by(page, page_order.position) as page
    from page_order join boot_pages using (page)
    where boot is not null group by boot
),

before as (
    select first_pages.boot, sum(samples.value) as queries
    from first_pages
    join samples using (page)
    join concept_series using (series)
    where concept_series.concept = 'prefix_cache_queries' and not concept_series."exclude" and not isnan(samples.value)
    group by first_pages.boot
),

first_samples as (
    select boot, measure, first(value order by at_s, value desc) as value
    from host_samples where boot is not null and measure in ('load', 'memory_total') group by boot, measure
),

cpus as (
    select max(try_cast(value as double)) as cpus from study_facts where key = 'hardware.cpus' and try_cast(value as double) > 0
),

hits as (
    select boot, sum(total) filter (concept = 'prefix_cache_hits') as hit, sum(total) filter (concept = 'prefix_cache_queries') as asked
    from run_totals
    where boot is not null and key is null and concept in ('prefix_cache_hits', 'prefix_cache_queries')
    group by boot
)

select boot, 'model' as condition, null::varchar as class, model as value, null::double as number from arm_boots where model is not null
union all
select boot, 'engine build', null, concat_ws(' ', engine, engine_version), null from arm_boots where engine is not null
union all
select boot, case fact when 'config.tokenizer' then 'tokenizer' when 'config.tokenizer_revision' then 'tokenizer revision' else 'model revision' end, null,
    min(text), null
from boot_facts where fact in ('config.tokenizer', 'config.tokenizer_revision', 'config.revision') group by boot, fact
union all
select boot, 'prompt template', null, min(text), null from boot_facts where fact = 'arg.chat_template' group by boot
union all
select boot, replace(name, '_', ' '), null, trim(both '"' from value), null from stated where name in ('sampling', 'input_set')
union all
select boot, 'prompt template', null, trim(both '"' from value), null from stated where name = 'template'
union all
select boot, 'sampling', null, string_agg(option, ' ' order by option), null from options
where regexp_matches(option, '^--(temperature|top-p|top-k|min-p|seed|ignore-eos|frequency-penalty|presence-penalty|repetition-penalty)')
    and boot not in (select boot from stated where name = 'sampling')
group by boot
union all
select boot, 'input set', null, string_agg(option, ' ' order by option), null from options
where regexp_matches(option, '^--(dataset|random|sharegpt|sonnet|custom|hf|input|output|num-prompts|prompt)')
    and not starts_with(option, '--num-prompts')
    and boot not in (select boot from stated where name = 'input_set')
group by boot
union all
select boot, 'mean prompt tokens', class, round(prompt_tokens)::bigint::varchar, prompt_tokens
from of_class join loaded using (boot) where prompt_tokens is not null
union all
select boot, 'phases of the load', null, value, null from phases join loaded using (boot)
union all
select boot, 'share of requests by phase', class || ', ' || phase, round(100 * share)::integer || ' %', share::double
from shares join loaded using (boot) where has_several
union all
select boot, 'concurrency', null, value, null from concurrency join loaded using (boot)
union all
select boot, 'warm-up requests left out', null, sum(warmups)::varchar, sum(warmups)::double from of_class join loaded using (boot) group by boot
union all
select boot, 'failed requests', null, failed || ' of ' || requests, failed::double from loaded
union all
select boot, 'aborted or cut off', null, (aborted + incomplete) || ' of ' || requests, (aborted + incomplete)::double from loaded
union all
select boot, 'duration of the load (s)', null, round(seconds)::bigint::varchar, seconds from spans join loaded using (boot) where seconds is not null
union all
select boot, 'prefix cache', null, case min(text) when 'True' then 'on' when 'False' then 'off' else min(text) end, null
from boot_facts where fact = 'config.enable_prefix_caching' group by boot
union all
select boot, 'prefix cache before the load', null,
    coalesce(cache_state, case when queries > 0 then 'warm' else 'cold' end), null
from loaded join arm_boots using (boot) left join before using (boot)
where cache_state is not null or queries is not null
union all
select boot, 'prefix hit rate', null, round(100 * hit / asked, 1) || ' %', hit / asked from hits join loaded using (boot) where asked > 0
union all
select boot, 'compile cache', null, compile_state, null from arm_boots where compile_state is not null
union all
select boot, 'decode-only step time', generation_requests || case generation_requests when 1 then ' request' else ' requests' end,
    round(1000 * median(elapsed_s)) || ' ms', median(elapsed_s)::double
from step_phases where phase = 'decode_only' and elapsed_s > 0
group by boot, generation_requests having count(*) >= 20
union all
-- One task a CPU or fewer: nothing waits for a CPU, whatever the average is.
select boot, 'host load at the first sample (per CPU)', null,
    coalesce(printf('%.1f', value / cpus), printf('%.1f in all, CPUs not stated', value)),
    case when cpus is not null then greatest(value / cpus, 1) end
from first_samples cross join cpus where measure = 'load'
union all
select distinct boot, 'host CPUs', null, printf('%g', cpus), cpus from first_samples cross join cpus where cpus is not null
union all
select boot, 'host memory (GiB)', null, printf('%.1f', value / 1073741824), value from first_samples where measure = 'memory_total';
