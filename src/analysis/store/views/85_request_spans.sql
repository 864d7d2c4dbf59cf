-- one row per request that clients timed on the wall clock: when it was sent, got its first token and ended
-- `place` is what served it: the boot that a folder or the file's name says, or the only boot; else the folder of the file.
-- first_s is null when no token came; `is_placed` is false when its times are missing or out of order.
create view request_spans as
with timed as (
    select
        coalesce(named.boot, parse_dirpath(request_metrics.file)) as place, named.boot, request_metrics.file, run, ordinal, token_at_s,
        sent_at_s as sent_s,
        coalesce(first_token_at_s, token_at_s[1], sent_at_s + ttft_s) as first_s,
        coalesce(finished_at_s, last_token_at_s, token_at_s[-1], sent_at_s + e2e_s) as end_s
    from request_metrics
    left join request_boots as named on request_metrics.file = named.file and named.rank = 1
    where clock = 'unix' and not is_duplicate
)

select *, coalesce(isfinite(sent_s) and isfinite(end_s) and sent_s <= end_s and (first_s is null or first_s between sent_s and end_s), false) as is_placed
from timed;
