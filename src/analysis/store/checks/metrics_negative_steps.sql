-- a page since whose predecessor a sum fell without a restart, or a histogram gained fewer observations up to a larger le
with gains as (
    select
        steps.page, steps.series, steps.increase - lag(steps.increase) over of_histogram as gain
    from series_steps as steps join histogram_buckets as numbered on steps.series = numbered.series
    where steps.increase is not null
    window of_histogram as (partition by steps.page, numbered.histogram order by numbered.place)
),

negative as (
    select gains.page, format('{} {}: {} observations with le up to {}', name, labels, gain, le) as detail
    from gains join histogram_buckets as numbered on gains.series = numbered.series
    where gain < 0
    union all
    select steps.page, format('{} {}: fell by {}', series.name, series.labels, -steps.increase)
    from series_steps as steps join series on steps.series = series.series
    where steps.increase < 0
)

select pages.file || ' page ' || pages.page_index as scope, negative.detail
from negative join pages on negative.page = pages.page
order by all;
