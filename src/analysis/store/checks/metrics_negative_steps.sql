-- a page since whose predecessor a sum fell without a restart, or a histogram gained fewer observations up to a larger le
with buckets as (
    select
        steps.page, left(series.name, -7) as name, steps.increase,
        try_cast(series.labels ->> '$.le' as double) as le,
        regexp_replace(series.labels, '"le":"[^"]*",?', '') as labels
    from series_steps as steps join series on steps.series = series.series
    where series.name like '%\_bucket' escape '\' and steps.increase is not null
),

gains as (
    select *, increase - lag(increase) over (partition by page, name, labels order by le) as gain
    from buckets where le is not null
),

negative as (
    select page, format('{} {}: {} observations with le up to {}', name, labels, gain, le) as detail
    from gains where gain < 0
    union all
    select steps.page, format('{} {}: fell by {}', series.name, series.labels, -steps.increase)
    from series_steps as steps join series on steps.series = series.series
    where steps.increase < 0
)

select pages.file || ' page ' || pages.page_index as scope, negative.detail
from negative join pages on negative.page = pages.page
order by all;
