-- one row per page: position, page before it, life (from 1; a restart begins a new one) and restarts seen on it
create table page_order as
with starts as (
    select
        target, process_start_s, min(position) as first_position,
        -- Another process that ran before the first page was taken is not a restart: its first page is a baseline.
        coalesce(process_start_s < any_value(began_at_s), false) as ran_before
    from page_positions
    left join (
        select target, min(scraped_at_s) as began_at_s from page_positions
        where scraped_at_source <> 'mtime' group by target
    ) using (target)
    group by target, process_start_s
),

parts as (
    select
        process, position,
        -- When every part that had counted anything fell, it is the process that restarted.
        case when count(*) filter (where fell) = count(*) then 1 else count(*) filter (where fell) end as restarted
    from (
        select pages.process, pages.position, counters.part, bool_or(steps.fell) as fell
        from counter_steps as steps
        join counter_series as counters on steps.series = counters.series
        join page_positions as pages on steps.page = pages.page
        where counters.witness and steps.previous_value > 0 and steps.page in (select page from part_restarts)
        group by pages.process, pages.position, counters.part
    )
    group by process, position
    having bool_or(fell)
),

counted as (
    select
        pages.*,
        starts.first_position,
        starts.first_position > 0 and not starts.ran_before as is_restarted,
        coalesce(parts.restarted, 0) as restarted,
        sum(coalesce(parts.restarted, 0)) over (
            partition by pages.process order by pages.position
        )::integer as falls
    from page_positions as pages
    join starts on pages.target = starts.target and pages.process_start_s is not distinct from starts.process_start_s
    left join parts on pages.process = parts.process and pages.position = parts.position
),

lives as (
    select *, min(position) over (partition by process, falls) as life_position from counted
)

select
    page, file, target, position,
    lag(page) over (partition by target order by position, page) as previous_page,
    dense_rank() over (partition by target order by life_position, process_start_s, falls)::integer as life,
    scraped_at_s, scraped_at_source, process_start_s, is_partial,
    -- Said of one page only where several files hold the answers of one moment.
    case when row_number() over (partition by target, position order by page) > 1 then 0
        else restarted + (is_restarted and position = first_position)::integer end::integer as resets,
    first_position, is_restarted,
    case when last_position = 0 then 'single' else 'delta' end as "window"
from lives;
