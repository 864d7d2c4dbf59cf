-- one row per replica: the tokens of its pool, as its info metric or gauge says at the end of the period
create view replica_pools as
select
    totals.replica,
    sum(case when names.type = 'info' then try_cast(json_extract_string(totals.labels, names.key_label) as double)
        else totals.value end * names.scale)::double as tokens
from replica_totals as totals join metric_names as names on totals.name = names.sample_name
where names.concept = 'pool_tokens' and totals.is_setting = (names.type = 'info')
group by totals.replica
union all
select replicas.replica, arg_max(gauges.value, page_order.position)::double
from concept_gauges as gauges
join page_order using (page)
join boot_pages using (page)
join replicas on coalesce(boot_pages.boot, boot_pages.target) = replicas.replica and replicas.source = 'pages'
where gauges.concept = 'pool_tokens'
group by replicas.replica;
