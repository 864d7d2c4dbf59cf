-- one row per (page, series) of counters and histogram parts: value, the value before it in the same process, and whether it fell
-- The largest table of a study beside samples: numbers only, what pages and series are is joined where it is asked for.
create table counter_steps as
with places as (
    select page, process, row_number() over (order by position, page)::integer as place from page_positions
)

select
    samples.page, samples.series, samples.value,
    lag(samples.value) over of_process as previous_value,
    coalesce(counters.witness and samples.value < lag(samples.value) over of_process, false) as fell
from samples
join counter_series as counters on samples.series = counters.series
join places on samples.page = places.page
where not isnan(samples.value)
window of_process as (partition by places.process, samples.series order by places.place);
