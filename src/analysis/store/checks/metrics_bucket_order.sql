-- a page on which a histogram's cumulative bucket counts fall as le grows: a torn page, or not a histogram
with buckets as (
    select
        samples.page, left(series.name, -7) as name, samples.value,
        try_cast(series.labels ->> '$.le' as double) as le,
        regexp_replace(series.labels, '"le":"[^"]*",?', '') as labels
    from samples join series on samples.series = series.series
    where series.name like '%\_bucket' escape '\'
),

steps as (
    select *, value - lag(value) over (partition by page, name, labels order by le) as step from buckets where le is not null
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} {}: {} buckets below the one before, first at le={}', name, labels, count(*), min(le)) as detail
from steps join pages on steps.page = pages.page
where step < 0
group by pages.file, pages.page_index, name, labels
order by all;
