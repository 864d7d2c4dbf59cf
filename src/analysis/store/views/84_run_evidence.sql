-- one row per (run, concept, series, end): the line of a sum or counter on the first and on the last page of the run
create view run_evidence as
with lines as (
    select
        coalesce(boot_pages.boot, boot_pages.target) as run,
        concept_series.concept, page_order.file, samples.line, series.name, series.labels, page_order.position,
        min(page_order.position) over of_series as first_position,
        max(page_order.position) over of_series as last_position
    from samples
    join concept_series using (series)
    join series using (series)
    join page_order using (page)
    join boot_pages using (page)
    where concept_series.statistic in ('sum', 'value')
    window of_series as (partition by coalesce(boot_pages.boot, boot_pages.target), series.series)
)

select
    run, concept, file, line, name, labels,
    case when position = last_position then 'last page' else 'first page' end as place
from lines
where position in (first_position, last_position);
