-- one row per (target, life, series, concept): what a series counts as there, after renames and known defects
-- "exclude": a rank's copy, the older name of a metric that is there under its newer one, or a sum that a defect spoilt.
create table target_series as
with present as (
    select distinct page_order.target, page_order.life, samples.series
    from samples join page_order on samples.page = page_order.page
    where samples.series in (select series from concept_series)
)

select
    present.target, present.life, concepts.series, concepts.engine,
    case
        when swap.defect is not null and concepts.concept = 'prefill_time' then 'decode_time'
        when swap.defect is not null and concepts.concept = 'decode_time' then 'prefill_time'
        else concepts.concept
    end as concept,
    concepts.statistic, concepts.type, concepts.unit, concepts.combine, concepts.le, concepts.engine_label, concepts.model,
    concepts.key, concepts.scale,
    concepts."exclude" or spoilt.defect is not null or concepts.name_rank > min(concepts.name_rank) over (
        partition by present.target, present.life, concepts.engine, concepts.concept, concepts.statistic
    ) as "exclude"
from present
join concept_series as concepts on present.series = concepts.series
left join target_defects as swap
    on present.target = swap.target and present.life = swap.life and swap.swaps and list_contains(swap.concepts, concepts.concept)
left join target_defects as spoilt
    on present.target = spoilt.target and present.life = spoilt.life and spoilt.action = 'excluded'
    and list_contains(spoilt.concepts, concepts.concept) and concepts.statistic = 'sum';
