-- a page on which counters fell although the process start did not change, and the page shows one engine only
with steps as (
    select steps.page, counters.part, steps.fell
    from counter_steps as steps
    join counter_series as counters on steps.series = counters.series
    join pages on steps.page = pages.page
    -- An engine is what engines' own metrics show; those of the web server and of Python stand beside it.
    where pages.process_start_s is not null and steps.series in (select series from concept_series)
        and steps.page in (select page from counter_steps where fell)
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} of {} counters below the page before: pages out of order or of two processes', count(*) filter (where fell), count(*))
        as detail
from steps join pages on steps.page = pages.page
group by pages.file, pages.page_index
having bool_or(fell) and count(distinct part) = 1
order by all;
