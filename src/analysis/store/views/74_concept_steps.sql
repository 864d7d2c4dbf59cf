-- one row per (page, concept, statistic, le, engine_label, model, key): the increase since the page before, in base units
create table concept_steps as
select
    steps.page, steps.target, steps.life, series.engine, series.concept, series.statistic, series.le,
    series.engine_label, series.model, series.key,
    sum(steps.increase * series.scale)::double as increase
from series_steps as steps
join target_series as series on steps.target = series.target and steps.life = series.life and steps.series = series.series
where not series."exclude" and series.type in ('counter', 'histogram') and steps.increase is not null
group by all;
