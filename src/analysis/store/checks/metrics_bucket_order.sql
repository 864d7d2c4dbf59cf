-- a page on which a histogram's cumulative bucket counts fall as le grows: a torn page, or not a histogram
with buckets as (
    select
        series, left(name, -7) as name, regexp_replace(labels, '"le":"[^"]*",?', '') as labels,
        try_cast(labels ->> '$.le' as double) as le
    from series where name like '%\_bucket' escape '\'
),

numbered as (
    select
        *, dense_rank() over (order by name, labels)::integer as histogram, row_number() over (order by le)::integer as place
    from buckets where le is not null
),

steps as (
    select
        samples.page, samples.series, samples.value - lag(samples.value) over of_histogram as step
    from samples join numbered on samples.series = numbered.series
    window of_histogram as (partition by samples.page, numbered.histogram order by numbered.place)
),

falls as (
    from steps where step < 0
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} {}: {} buckets below the one before, first at le={}', numbered.name, numbered.labels, count(*), min(numbered.le)) as detail
from falls
join numbered on falls.series = numbered.series
join pages on falls.page = pages.page
group by pages.file, pages.page_index, numbered.name, numbered.labels
order by all;
