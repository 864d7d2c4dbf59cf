-- one row per engine step that a boot logged: what it did, its tokens and its seconds; copies of a boot are left out
create view step_phases as
select
    boot, file, line, coalesce(engine_index, 0) as engine, context_requests, generation_requests,
    context_tokens + generation_tokens as tokens, elapsed_s,
    case
        when context_requests > 0 and generation_requests > 0 then 'mixed'
        when context_requests > 0 then 'prefill_only'
        when generation_requests > 0 then 'decode_only'
        else 'empty'
    end as phase
from engine_steps
where boot not in (select boot from boot_copies);
