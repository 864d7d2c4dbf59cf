-- one row per run: wall seconds between its timed pages, and the busy ones among them (null: pages do not say how many ran)
-- An interval is busy when requests ran at one of its ends or finished in it.
create table run_clock as
with running as (
    select page, sum(value) as requests from concept_gauges where concept = 'running_requests' group by page
),

finished as (
    select page, max(increase) as requests
    from run_windows where concept = 'inference_time' and statistic = 'count' group by page
),

intervals as (
    select
        coalesce(boot_pages.boot, boot_pages.target) as run,
        page_order.scraped_at_s - before.scraped_at_s as seconds,
        running.requests + running_before.requests + coalesce(finished.requests, 0) > 0 as is_busy
    from page_order
    join boot_pages using (page)
    -- Over a restart too: what the new process counted is in the run's sums, so its seconds are in the clock.
    join page_order as before on page_order.previous_page = before.page
    left join running on running.page = page_order.page
    left join running as running_before on running_before.page = before.page
    left join finished on finished.page = page_order.page
)

select
    run, sum(seconds)::double as wall_s,
    case when count(*) = count(is_busy) then coalesce(sum(seconds) filter (is_busy), 0)::double end as busy_s
from intervals
where seconds > 0
group by run;
