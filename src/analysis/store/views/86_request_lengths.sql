-- one row per completed request with its lengths: seconds to the first token and from there to the last, by the client's clock
-- `place` is as in request_spans. `moment` is its place in its clock's span, 0 to 1: clocks of different kinds do not compare, and
-- requests without a time are in the order of their file.
create view request_lengths as
with done as (
    select
        coalesce(boots.boot, parse_dirpath(request_metrics.file)) as place, boots.boot, request_metrics.file, clock,
        prompt_tokens::double as prompt_tokens, output_tokens::double as output_tokens, ttft_s as prefill_s,
        case when output_tokens = 1 then 0 else tpot_s * (output_tokens - 1) end as decode_s,
        request_metrics.run, ordinal, request_metrics.class,
        coalesce(sent_at_s, 0) + coalesce(e2e_s, 0) / 2 as middle_s,
        row_number() over (partition by request_metrics.run order by ordinal) as position
    from request_metrics
    left join request_boots as boots on request_metrics.file = boots.file
    where is_counted and is_completed
        and prompt_tokens > 0 and output_tokens > 0 and isfinite(ttft_s) and ttft_s >= 0
        and (output_tokens = 1 or (isfinite(tpot_s) and tpot_s >= 0))
),

placed as (
    select
        *,
        case when clock = 'none' then position else middle_s end as tick,
        clock || case when clock = 'none' then run else '' end as timeline
    from done
)

select
    place, boot, file, run, ordinal, class, prompt_tokens, output_tokens, prefill_s, decode_s,
    coalesce((tick - min(tick) over line) / nullif(max(tick) over line - min(tick) over line, 0), 0)::double as moment
from placed
window line as (partition by place, timeline);
