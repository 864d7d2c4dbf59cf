-- one row per (page, concept, key): a gauge's value then, over engines summed, or the largest, or the least (metrics.toml: combine)
create view concept_gauges as
with values as (
    select
        samples.page, series.target, series.life, series.engine, series.concept, series.combine, series.engine_label, series.model,
        case when series.type = 'gauge' then series.key end as key,
        -- An info metric carries its number in a label. Processes of one engine (label pid) repeat each other.
        max(case when series.type = 'info' then try_cast(series.key as double) else samples.value end * series.scale) as value
    from samples
    join page_order as pages on samples.page = pages.page
    join target_series as series on pages.target = series.target and pages.life = series.life and samples.series = series.series
    where not series."exclude" and series.type in ('gauge', 'info') and not isnan(samples.value)
        -- Said again for the planner, which would hash all samples: few of them are of gauges.
        and samples.series in (select series from target_series where type in ('gauge', 'info'))
    group by all
)

select
    page, target, life, engine, concept, key,
    (case any_value(combine) when 'sum' then sum(value) when 'max' then max(value) else min(value) end)::double as value
from values
where value is not null
group by page, target, life, engine, concept, key;
