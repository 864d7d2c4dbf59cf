-- one row per request that clients timed on the wall clock: when it was sent, got its first token and ended
-- `place` is what served it: its boot (view request_boots), else the folder of the file, if it is in one.
-- first_s is null when no token came; `is_placed` is false when its times are missing or out of order.
create view request_spans as
with timed as (
    select
        coalesce(request_boots.boot, nullif(parse_dirpath(request_metrics.file), ''), 'the traces') as place, request_boots.boot,
        request_metrics.file, run, ordinal, token_at_s,
        sent_at_s as sent_s,
        coalesce(first_token_at_s, token_at_s[1], sent_at_s + ttft_s) as first_s,
        coalesce(finished_at_s, last_token_at_s, token_at_s[-1], sent_at_s + e2e_s) as end_s
    from request_metrics
    left join request_boots on request_metrics.file = request_boots.file
    where clock = 'unix' and not is_duplicate
)

select *, coalesce(isfinite(sent_s) and isfinite(end_s) and sent_s <= end_s and (first_s is null or first_s between sent_s and end_s), false) as is_placed
from timed;
