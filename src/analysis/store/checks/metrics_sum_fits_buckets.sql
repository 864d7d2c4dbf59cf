-- a life of a target in which a histogram's sum cannot come from its buckets: below the least or above the most they allow
with increments as (
    select
        target, life, engine, concept, engine_label, model, key, le, total,
        total - coalesce(lag(total) over histogram, 0) as observations,
        coalesce(lag(le) over histogram, 0) as lower_le
    from concept_totals
    where statistic = 'bucket' and le is not null
    window histogram as (partition by target, life, engine, concept, engine_label, model, key order by le)
),

bounds as (
    select
        target, life, engine, concept, engine_label, model, key,
        sum(observations * lower_le) as least,
        -- Without an open bucket there may be any number of observations above the last one.
        case when max(le) = 'inf'::double and bool_and(observations = 0 or le < 'inf'::double) then sum(observations * le) filter (where observations <> 0) end as most
    from increments group by all
)

select
    bounds.target || ' life ' || bounds.life as scope,
    format('{}: sum {}, buckets allow {} to {}', bounds.concept, sums.total, bounds.least, coalesce(bounds.most::varchar, 'any')) as detail
from bounds
join concept_totals as sums
    on sums.target = bounds.target and sums.life = bounds.life and sums.engine = bounds.engine and sums.concept = bounds.concept
    and sums.statistic = 'sum' and sums.engine_label is not distinct from bounds.engine_label
    and sums.model is not distinct from bounds.model and sums.key is not distinct from bounds.key
where sums.total < bounds.least * (1 - 1e-6) or sums.total > bounds.most * (1 + 1e-6)
order by all;
