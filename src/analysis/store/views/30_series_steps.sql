-- one row per (page, series) of counters and histogram parts: the increase since the page before it
-- Null on a baseline. From zero: after a restart, on a single page, and for a series that a whole page did not have yet.
create table series_steps as
with baselines as (
    select target, bool_or(is_partial) filter (where position = 0) as is_partial
    from page_order group by target
),

begins as (
    select
        page_order.page,
        page_order.is_restarted or page_order."window" = 'single' as from_zero,
        page_order.position = page_order.first_position or baselines.is_partial as is_baseline
    from page_order join baselines on page_order.target = baselines.target
)

select
    steps.page, steps.series,
    case
        when restarts.part is not null then steps.value
        when steps.previous_value is not null and (steps.value >= steps.previous_value or not counters.witness)
            then steps.value - steps.previous_value
        when steps.previous_value is not null or begins.from_zero then steps.value
        when begins.is_baseline then null
        else steps.value
    end as increase
from counter_steps as steps
join counter_series as counters on steps.series = counters.series
join begins on steps.page = begins.page
left join part_restarts as restarts on steps.page = restarts.page and counters.part = restarts.part;
