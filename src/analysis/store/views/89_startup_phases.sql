-- one row per (boot, phase) of a start-up: from when to when, in seconds since the log's first printed time
-- A phase ends at the last line that shows it done; one that the log does not show is part of the next. Times are as fine as printed.
create view startup_phases as
with ends as (
    select boot, 1 as stage, 'configuration' as phase, min(since_start_s) as end_s
    from boot_facts where starts_with(fact, 'config.') group by boot
    union all
    select boot, 2, 'weights', max(since_start_s)
    from boot_facts where fact in ('phase_weights', 'phase_model_load', 'memory_weights') group by boot
    union all
    select boot, 3, 'memory and pool', max(since_start_s)
    from boot_facts where fact in ('available_kv', 'pinned_kv', 'token_pool', 'blocks', 'gpu_blocks', 'n_ctx_slot') group by boot
    union all
    select boot, 4, 'warm-up', max(since_start_s)
    from boot_facts where fact in ('phase_init_engine', 'phase_graph_capture', 'phase_warmup') group by boot
    union all
    select boot, 5, 'server', ready_s from arm_boots
),

ordered as (
    select boot, stage, phase, end_s, coalesce(max(end_s) over before, 0) as start_s
    from ends
    where end_s is not null
    window before as (partition by boot order by stage rows between unbounded preceding and 1 preceding)
)

select boot, stage, phase, start_s, greatest(start_s, end_s) as end_s
from ordered;
