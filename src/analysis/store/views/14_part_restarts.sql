-- one row per (page, part): an engine or replica whose counters fell at the page's position, so that it restarted
create table part_restarts as
with falls as (
    select distinct pages.process, pages.position, counters.part
    from counter_steps as steps
    join counter_series as counters on steps.series = counters.series
    join page_positions as pages on steps.page = pages.page
    where steps.fell
)

select pages.page, falls.part
from falls join page_positions as pages on falls.process = pages.process and falls.position = pages.position;
