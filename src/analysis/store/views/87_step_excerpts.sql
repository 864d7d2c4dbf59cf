-- one row per engine step near the largest prompt of its boot, in seconds of step time from the first of them
-- The longest row of neighbouring steps that held a prompt beside decodes, and eight steps on either side.
create view step_excerpts as
with numbered as (
    select
        boot, context_tokens, generation_requests, elapsed_s,
        row_number() over of_boot as n,
        sum(elapsed_s) over of_boot as end_s
    from engine_steps
    where boot not in (select boot from boot_copies) and elapsed_s >= 0
    window of_boot as (partition by boot order by line)
),

islands as (
    select boot, n, context_tokens, n - row_number() over (partition by boot order by n) as island
    from numbered
    where context_tokens > 0 and generation_requests > 0
),

largest as (
    select boot, min(n) as first_n, max(n) as last_n
    from islands
    group by boot, island
    qualify row_number() over (partition by boot order by sum(context_tokens) desc, first_n) = 1
),

near as (
    select numbered.*, min(end_s - elapsed_s) over (partition by boot) as origin_s
    from numbered
    join largest using (boot)
    where n between first_n - 8 and last_n + 8
)

select
    boot, n, context_tokens as prompt_tokens,
    case
        when context_tokens = 0 then 'decode only'
        when generation_requests = 0 then 'prompt only'
        else 'prompt and decode'
    end as kind,
    (end_s - elapsed_s - origin_s)::double as start_s,
    (end_s - origin_s)::double as end_s
from near;
