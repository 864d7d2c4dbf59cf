-- one row per (series, concept): which concept of which engine a series is a part of, as the engine exports it
-- "exclude": another rank's copy of the same series. Renamed metrics (name_rank) are settled by target, in target_series.
create table concept_series as
with rank_patterns as (
    select engine, '"(' || string_agg(label, '|' order by label) || ')":"(\\.|[^"\\])*",?' as pattern
    from rank_labels group by engine
),

matched as (
    select
        series.series, series.labels, names.*,
        coalesce(names.key_value, json_extract_string(series.labels, names.key_label)) as key,
        case when names.statistic = 'bucket' then try_cast(series.labels ->> '$.le' as double) end as le
    from series
    join metric_names as names on series.name = names.sample_name
    where names.where_label is null or json_extract_string(series.labels, names.where_label) = names.where_value
)

select
    series, matched.engine, concept, statistic, type, unit, combine, le,
    coalesce(labels ->> '$.engine', labels ->> '$.dp_rank') as engine_label,
    coalesce(labels ->> '$.model_name', labels ->> '$.model') as model,
    key, key_label, scale, name_rank,
    pattern is not null and row_number() over (
        partition by sample_name, concept, regexp_replace(labels, coalesce(pattern, '^$'), '', 'g')
        order by length(labels), labels
    ) > 1 as "exclude"
from matched left join rank_patterns on matched.engine = rank_patterns.engine;
