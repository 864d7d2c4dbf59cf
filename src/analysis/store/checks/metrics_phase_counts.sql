-- a life of a target in which the per-request histograms count different numbers of requests: torn, merged, or V0
select
    target || ' life ' || life as scope,
    string_agg(concept || ' ' || total::bigint, ', ' order by concept) as detail
from (
    select target, life, concept, sum(total) as total
    from concept_totals
    where statistic = 'count' and concept in ('prefill_time', 'decode_time', 'inference_time', 'queue_time', 'e2e_time')
    group by target, life, concept
)
group by target, life
having count(distinct total) > 1
order by all;
