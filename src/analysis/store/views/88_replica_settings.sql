-- one row per (replica, setting): what info metrics and boot logs say of how a replica is set, as text
-- Left out: what names a replica or a scrape, and sizes that follow from profiling (replica_pools has the pool).
create view replica_settings as
with labelled as (
    select replica, name, labels from replica_totals where is_setting
    union all
    select distinct coalesce(boot_pages.boot, boot_pages.target), series.name, series.labels
    from samples
    join series using (series)
    join boot_pages using (page)
    join replicas on coalesce(boot_pages.boot, boot_pages.target) = replicas.replica and replicas.source = 'pages'
    where regexp_full_match(series.name, '(.*[:_])?(config|build|server|python|model)_info')
),

pairs as (
    select replica, name || ' ' || entry.key as setting, entry.value ->> '$' as value
    from labelled, json_each(labelled.labels) as entry
    where entry.key not in (
        'instance', 'pod', 'pod_name', 'host', 'hostname', 'node', 'container', 'container_id', 'uid', 'pid', 'engine', 'ip',
        'num_gpu_blocks', 'num_cpu_blocks', 'kv_cache_size_tokens', 'kv_cache_max_concurrency', 'kv_cache_memory_bytes'
    )
)

select replica, setting, string_agg(distinct value, ' | ' order by value) as value from pairs group by replica, setting
union all
select boots.boot, 'engine version', boots.engine || ' ' || boots.engine_version
from boots join replicas on boots.boot = replicas.replica where boots.engine_version is not null;
