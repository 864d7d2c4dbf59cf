-- one row per (page, series) of counters and histogram parts: the increase since the page before it
-- Null on a baseline. From zero: after a restart, on a single page, and for a series that a whole page did not have yet.
create table series_steps as
with baselines as (
    select target, bool_or(is_partial) filter (where position = 0) as is_partial
    from page_order group by target
)

select
    steps.page, steps.series, pages.target, pages.life, steps.value,
    case
        when restarts.part is not null then steps.value
        when steps.previous_value is not null and (steps.value >= steps.previous_value or not steps.witness)
            then steps.value - steps.previous_value
        when steps.previous_value is not null then steps.value
        when pages.is_restarted or pages."window" = 'single' then steps.value
        when steps.position = pages.first_position or baselines.is_partial then null
        else steps.value
    end as increase
from counter_steps as steps
join page_order as pages on steps.page = pages.page
join baselines on pages.target = baselines.target
left join part_restarts as restarts
    on steps.target = restarts.target and steps.position = restarts.position and steps.part = restarts.part
    and steps.process_start_s is not distinct from restarts.process_start_s;
