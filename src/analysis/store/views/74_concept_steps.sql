-- one row per (page, concept, statistic, le, engine_label, model, key): the increase since the page before, in base units
create table concept_steps as
-- Summed under one number for all that rows are grouped by but the page: texts are slow keys.
with numbered as (
    select
        *,
        dense_rank() over (order by target, life, engine, concept, statistic, le, engine_label, model, key) as meaning
    from target_series
    where not "exclude" and type in ('counter', 'histogram')
),

sums as (
    select steps.page, numbered.meaning, sum(steps.increase * numbered.scale)::double as increase
    from series_steps as steps
    join numbered on steps.target = numbered.target and steps.life = numbered.life and steps.series = numbered.series
    where steps.increase is not null
    group by steps.page, numbered.meaning
),

meanings as (
    select distinct meaning, target, life, engine, concept, statistic, le, engine_label, model, key from numbered
)

select
    sums.page, meanings.target, meanings.life, meanings.engine, meanings.concept, meanings.statistic, meanings.le,
    meanings.engine_label, meanings.model, meanings.key, sums.increase
from sums join meanings using (meaning);
