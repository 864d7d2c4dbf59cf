-- a life of a target in which inference time is not prefill plus decode time (relative 1e-6)
with sums as (
    select
        target, life,
        sum(total) filter (where concept = 'prefill_time') as prefill_s,
        sum(total) filter (where concept = 'decode_time') as decode_s,
        sum(total) filter (where concept = 'inference_time') as inference_s
    from concept_totals where statistic = 'sum' group by target, life
)

select
    target || ' life ' || life as scope,
    format('inference {} s, prefill {} s + decode {} s', inference_s, prefill_s, decode_s) as detail
from sums
where abs(inference_s - prefill_s - decode_s) > 1e-6 * greatest(abs(inference_s), abs(prefill_s) + abs(decode_s))
order by all;
