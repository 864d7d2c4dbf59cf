-- one row per (page, concept, statistic, le, engine_label, model, key): the increase since the page before, in base units
-- Kept as numbers (concept_increases) under the number of all that rows are grouped by but the page (concept_meanings).
create table concept_meanings as
select
    dense_rank() over (order by target, life, engine, concept, statistic, le, engine_label, model, key)::integer as meaning, *
from target_series
where not "exclude" and type in ('counter', 'histogram');

create table concept_increases as
with lives as (
    select page, dense_rank() over (order by target, life)::integer as of_life from page_order
),

numbered as (
    select
        lives.of_life, meanings.series, meanings.meaning, meanings.scale,
        count(*) over (partition by meanings.meaning) = 1 as is_alone
    from concept_meanings as meanings
    join (
        select target, life, any_value(of_life) as of_life from page_order join lives using (page) group by target, life
    ) as lives on meanings.target = lives.target and meanings.life = lives.life
),

scaled as (
    select steps.page, numbered.meaning, numbered.is_alone, steps.increase * numbered.scale as increase
    from series_steps as steps
    join lives on steps.page = lives.page
    join numbered on lives.of_life = numbered.of_life and steps.series = numbered.series
    where steps.increase is not null
)

-- Most meanings are one series: there is nothing to sum.
select page, meaning, increase from scaled where is_alone
union all
select page, meaning, sum(increase)::double from scaled where not is_alone group by page, meaning;

create view concept_steps as
select
    steps.page, meanings.target, meanings.life, meanings.engine, meanings.concept, meanings.statistic, meanings.le,
    meanings.engine_label, meanings.model, meanings.key, steps.increase
from concept_increases as steps
join (
    select distinct meaning, target, life, engine, concept, statistic, le, engine_label, model, key from concept_meanings
) as meanings on steps.meaning = meanings.meaning;
