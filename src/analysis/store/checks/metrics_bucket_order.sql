-- a page on which a histogram's cumulative bucket counts fall as le grows: a torn page, or not a histogram
with steps as (
    select
        samples.page, samples.series, samples.value - lag(samples.value) over of_histogram as step
    from samples join histogram_buckets as numbered on samples.series = numbered.series
    window of_histogram as (partition by samples.page, numbered.histogram order by numbered.place)
),

falls as (
    from steps where step < 0
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} {}: {} buckets below the one before, first at le={}', numbered.name, numbered.labels, count(*), min(numbered.le)) as detail
from falls
join histogram_buckets as numbered on falls.series = numbered.series
join pages on falls.page = pages.page
group by pages.file, pages.page_index, numbered.name, numbered.labels
order by all;
