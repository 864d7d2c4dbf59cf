-- one row per (target, life, concept, statistic, le, key): value as exported on the last page of a life, summed over series
create table life_values as
with last_pages as (
    select target, life, max_by(page, position) as page from page_order group by target, life
),

exported as (
    select last_pages.target, last_pages.life, concepts.*, samples.value
    from samples
    join last_pages on samples.page = last_pages.page
    join concept_series as concepts on samples.series = concepts.series
    where not concepts."exclude" and concepts.type in ('counter', 'histogram') and not isnan(samples.value)
    -- Of an older and a newer name on one page the newer.
    qualify concepts.name_rank = min(concepts.name_rank) over (
        partition by last_pages.page, concepts.engine, concepts.concept, concepts.statistic
    )
)

select target, life, engine, concept, statistic, le, key, sum(value * scale)::double as value
from exported group by all;
