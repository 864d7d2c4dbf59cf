-- one row per (replica, concept, statistic, key): a counter's or histogram's increase over the whole period, in base units
create view replica_sums as
with rank_patterns as (
    select engine, '"(' || string_agg(label, '|' order by label) || ')":"(\\.|[^"\\])*",?' as pattern
    from rank_labels group by engine
),

matched as (
    select
        totals.replica, names.engine, names.concept, names.statistic, names.scale, totals.value,
        coalesce(names.key_value, json_extract_string(totals.labels, names.key_label)) as key,
        names.name_rank = min(names.name_rank) over (
            partition by totals.replica, names.engine, names.concept, names.statistic
        ) as is_newest,
        -- Another rank's copy of the same series.
        pattern is not null and row_number() over (
            partition by totals.replica, names.sample_name, names.concept,
                regexp_replace(totals.labels, coalesce(pattern, '^$'), '', 'g')
            order by length(totals.labels), totals.labels
        ) > 1 as is_copy
    from replica_totals as totals
    join metric_names as names on totals.name = names.sample_name
    left join rank_patterns on names.engine = rank_patterns.engine
    where not totals.is_setting and names.type in ('counter', 'histogram')
        and (names.where_label is null or json_extract_string(totals.labels, names.where_label) = names.where_value)
),

-- What the fleet's own pages show of known defects holds for its replicas.
spoilt as (
    select engine, concept, bool_or(swaps) as swaps, bool_or(action = 'excluded') as excluded
    from (select engine, unnest(concepts) as concept, swaps, action from target_defects)
    where swaps or action = 'excluded' group by engine, concept
)

select
    matched.replica,
    case
        when spoilt.swaps and matched.concept = 'prefill_time' then 'decode_time'
        when spoilt.swaps and matched.concept = 'decode_time' then 'prefill_time'
        else matched.concept
    end as concept,
    matched.statistic, matched.key, sum(matched.value * matched.scale)::double as total
from matched left join spoilt using (engine, concept)
where is_newest and not is_copy and not (coalesce(spoilt.excluded, false) and matched.statistic = 'sum')
group by all
union all
select run_totals.run, concept, statistic, key, total
from run_totals join replicas on run_totals.run = replicas.replica and replicas.source = 'pages'
where statistic <> 'bucket';
