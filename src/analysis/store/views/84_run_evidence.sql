-- one row per (run, concept, series, end): the line of a sum or counter on the first and on the last page of the run
create table run_evidence as
with runs as (
    select
        boot_pages.page, page_order.file, page_order.position, coalesce(boot_pages.boot, boot_pages.target) as run,
        dense_rank() over (order by coalesce(boot_pages.boot, boot_pages.target))::integer as of_run
    from boot_pages join page_order on boot_pages.page = page_order.page
),

told as (
    select distinct series from concept_series where statistic in ('sum', 'value')
),

ends as (
    select runs.of_run, samples.series, min(runs.position) as first_position, max(runs.position) as last_position
    from samples join told on samples.series = told.series join runs on samples.page = runs.page
    group by runs.of_run, samples.series
)

select
    runs.run, concept_series.concept, runs.file, samples.line, samples.value, series.name, series.labels,
    case when runs.position = ends.last_position then 'last page' else 'first page' end as place
from ends
join runs on ends.of_run = runs.of_run and runs.position in (ends.first_position, ends.last_position)
join samples on runs.page = samples.page and ends.series = samples.series
join concept_series on ends.series = concept_series.series and concept_series.statistic in ('sum', 'value')
join series on ends.series = series.series;
