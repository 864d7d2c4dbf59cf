-- a page on which a histogram's +Inf bucket is not its count
with parts as (
    select
        series, regexp_replace(name, '_(bucket|count)$', '') as name, name like '%\_count' escape '\' as is_count,
        rtrim(regexp_replace(labels, '"le":"[^"]*",?', ''), ',}') as labels
    from series
    where name like '%\_count' escape '\' or (name like '%\_bucket' escape '\' and try_cast(labels ->> '$.le' as double) = 'inf')
),

numbered as (
    select *, dense_rank() over (order by name, labels)::integer as histogram from parts
),

pairs as (
    select
        samples.page, numbered.histogram,
        max(value) filter (where is_count) as observations, max(value) filter (where not is_count) as total
    from samples join numbered on samples.series = numbered.series
    group by samples.page, numbered.histogram
    having total <> observations
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} {}: +Inf bucket {}, count {}', histograms.name, histograms.labels || '}', total, observations) as detail
from pairs
join (select distinct histogram, name, labels from numbered) as histograms on pairs.histogram = histograms.histogram
join pages on pairs.page = pages.page
order by all;
