-- one row per (target, life, concept, statistic, le, key): value as exported on the last page of a life, summed over series
create table life_values as
with last_pages as (
    select target, life, max_by(page, position) as page from page_order group by target, life
)

select
    last_pages.target, last_pages.life, concepts.engine, concepts.concept, concepts.statistic, concepts.le, concepts.key,
    sum(samples.value * concepts.scale)::double as value
from samples
join last_pages on samples.page = last_pages.page
join concept_series as concepts on samples.series = concepts.series
where not concepts."exclude" and concepts.type in ('counter', 'histogram') and not isnan(samples.value)
    and concepts.name_rank = (
        select min(other.name_rank) from concept_series as other
        where other.concept = concepts.concept and other.engine = concepts.engine and other.statistic = concepts.statistic
    )
group by all;
