-- one row per request that clients timed on any clock, in the order of sending: its times, its prompt and the arrivals of its tokens
-- A clock is the wall clock, or the monotonic clock of the machine whose client wrote into one folder (`clock`, `place`).
-- first_s and prompt_tokens are null where not known; arrivals is never null. Left out: times out of order, and requests that the
-- server refused before they took a turn (HTTP 400, 413, 422, 429).
create view turn_requests as
with timed as (
    select
        coalesce(request_boots.boot, nullif(parse_dirpath(request_metrics.file), ''), 'the traces') as place, request_boots.boot,
        clock, request_metrics.file, line, ordinal, request, class, phase, is_warmup, prompt_tokens,
        sent_at_s as sent_s,
        coalesce(first_token_at_s, token_at_s[1], sent_at_s + ttft_s) as first_s,
        coalesce(finished_at_s, last_token_at_s, token_at_s[-1], sent_at_s + e2e_s, first_s) as end_s,
        coalesce(list_filter(token_at_s, lambda t: isfinite(t)), []) as arrivals
    from request_metrics
    left join request_boots on request_metrics.file = request_boots.file
    where clock <> 'none' and not is_duplicate and coalesce(http_status not in (400, 413, 422, 429), true)
)

select * from timed
where isfinite(sent_s) and isfinite(end_s) and sent_s <= end_s and (first_s is null or first_s between sent_s and end_s);
