-- one row per (boot, time, measure, device): a host counter under one name, in base units
-- The boot is the one that the file's name or folder says, else the sample's run_id, else the only boot.
-- Measures: memory_used, memory_available, memory_total, engine_memory, swap_used, swap_total, device_memory_used,
-- device_memory_total (bytes), power (W), energy (J), temperature (Cel), clock (MHz), throttle (1), load (1), busy (1).
create view host_samples as
with named as (
    select
        host_counters.*,
        regexp_extract(counter, '[^/]*$') as leaf,
        regexp_replace(counter, '/?[^/]*$', '') as device,
        -- Samples of another run in a boot's own file belong to the boot that the file is named after.
        coalesce(
            (select max(boot) from boots where boot = regexp_replace(parse_filename(host_counters.file), '(\.[A-Za-z]+)+$', '')),
            (select max(boot) from boots where list_contains(string_split(host_counters.file, '/')[:-2], boot)),
            (select max(boot) from boots where boot = host_counters.run),
            (select max(boot) from boots having count(*) = 1)
        ) as boot
    from host_counters
    where at_s is not null and value is not null and isfinite(value) and not starts_with(counter, 'procs/')
),

measured as (
    select
        *,
        case
            when leaf = 'mem_available' then 'memory_available'
            when leaf = 'mem_total' and device = '' then 'memory_total'
            when leaf = 'mem_used' and device = '' then 'memory_used'
            when leaf = 'engine_rss' then 'engine_memory'
            when leaf in ('swap_used', 'swap_total') then leaf
            when regexp_matches(leaf, 'throttl') then 'throttle'
            when regexp_matches(leaf, '(^|_)(temp|temperature)(_|$)') or unit = 'Cel' then 'temperature'
            when unit = 'MHz' and not regexp_matches(leaf, 'mem') then 'clock'
            when unit = 'W' and not regexp_matches(leaf, 'limit|cap|max') then 'power'
            when unit = 'J' then 'energy'
            when (device <> '' or regexp_matches(leaf, '^(gpu|vram)')) and regexp_matches(leaf, 'mem|vram') then
                case when regexp_matches(leaf, 'total') then 'device_memory_total'
                    when regexp_matches(leaf, 'used') then 'device_memory_used' end
            when leaf = 'load1' then 'load'
            when leaf = 'cpu_pct' and device = '' then 'busy'
        end as measure,
        value * case unit when 'KiB' then 1024 when 'MiB' then 1048576 when 'GiB' then 1073741824 when '%' then 0.01 else 1 end as base
    from named
)

select boot, file, min(line) as line, at_s, measure, device || case when leaf in (
    'mem_available', 'mem_total', 'mem_used', 'engine_rss', 'swap_used', 'swap_total', 'load1', 'cpu_pct'
) then '' else '/' || leaf end as device, max(base)::double as value
from measured
where measure is not null
group by all;
