-- one row per request record: times recomputed from its own events; count those with is_counted and is_completed
create view request_metrics as
with marked as (
    select
        requests.*, is_repeated, kept_in_run,
        coalesce(ttft_s, first_token_at_s - sent_at_s) as ttft_new_s,
        -- the sum of recorded gaps is finer than a difference of unix times; e2e - ttft only where a file has no last event
        coalesce(list_sum(itl_s), last_token_at_s - first_token_at_s, e2e_s - ttft_s) as streaming_s,
        coalesce(phase = 'warmup', false) or status = 'warmup' as is_warmup,
        status = 'ok' and coalesce(
            output_tokens > 0,
            first_token_at_s is not null or ttft_s is not null or e2e_s > 0 or length(output_text) > 0
        ) as is_completed
    from requests
    join request_places using (run, ordinal)
)
select
    run, file, line, ordinal, request, class, phase, clock, status, finish_reason, http_status, valid, error,
    sent_at_s, first_token_at_s, last_token_at_s, finished_at_s,
    ttft_new_s as ttft_s,
    case when output_tokens >= 2 then streaming_s / (output_tokens - 1) end as tpot_s,
    coalesce(e2e_s, finished_at_s - sent_at_s) as e2e_s,
    coalesce(itl_s, list_transform(range(2, len(token_at_s) + 1), lambda i: token_at_s[i] - token_at_s[i - 1])) as itl_s,
    itl_s is not null as itl_is_recorded,   -- the tool wrote the gaps itself
    coalesce(len(token_at_s), len(itl_s) + 1) as events,
    token_at_s, token_event, tokens_cum, prompt_tokens, output_tokens, tokens_counted_by,
    coalesce(is_completed, false) as is_completed, is_warmup,
    is_repeated or kept_in_run <> run as is_duplicate,
    case when kept_in_run <> run then kept_in_run end as duplicate_of_run,
    not is_warmup and not is_repeated and kept_in_run = run as is_counted
from marked;
