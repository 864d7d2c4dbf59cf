-- a page on which a histogram's +Inf bucket is not its count
with parts as (
    select
        samples.page, regexp_replace(series.name, '_(bucket|count)$', '') as name, samples.value,
        series.labels ->> '$.le' as le, series.name like '%\_count' escape '\' as is_count,
        regexp_replace(series.labels, '"le":"[^"]*",?', '') as labels
    from samples join series on samples.series = series.series
    where regexp_matches(series.name, '_(bucket|count)$')
),

pairs as (
    select
        page, name, rtrim(labels, ',}') as labels,
        max(value) filter (where is_count) as observations, max(value) filter (where try_cast(le as double) = 'inf') as total
    from parts group by page, name, rtrim(labels, ',}')
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} {}: +Inf bucket {}, count {}', name, labels || '}', total, observations) as detail
from pairs join pages on pairs.page = pages.page
where total <> observations
order by all;
