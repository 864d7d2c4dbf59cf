-- one row per run of a load generator: its figures recomputed from its requests; null where the file has no requests
create view run_metrics as
with counted as (
    select *, is_counted and is_completed as done from request_metrics
),
per_run as (
    select
        run,
        count(*) as records,
        count(*) filter (is_warmup) as warmup_excluded,
        count(*) filter (is_duplicate and not is_warmup) as duplicates_dropped,
        any_value(duplicate_of_run) as duplicate_of_run,
        count(*) filter (is_counted) as counted,
        count(*) filter (done) as completed,
        count(*) filter (is_counted and not is_completed and status <> 'incomplete') as failed,
        count(*) filter (is_counted and status = 'incomplete') as incomplete,
        -- a sum over requests of which one is not counted is not known
        case when coalesce(bool_and(prompt_tokens is not null) filter (done), true)
            then coalesce(sum(prompt_tokens) filter (done), 0) end as prompt_tokens,
        case when coalesce(bool_and(output_tokens is not null) filter (done), true)
            then coalesce(sum(output_tokens) filter (done), 0) end as output_tokens,
        count(ttft_s) filter (done) as ttft_count,
        avg(ttft_s) filter (done) as mean_ttft_s, median(ttft_s) filter (done) as median_ttft_s,
        avg(tpot_s) filter (done) as mean_tpot_s, median(tpot_s) filter (done) as median_tpot_s,
        avg(e2e_s) filter (done) as mean_e2e_s, median(e2e_s) filter (done) as median_e2e_s,
        sum(list_sum(itl_s)) filter (done) / nullif(sum(len(itl_s)) filter (done), 0) as mean_gap_s,
        -- gaps between chunks are token latencies only where a chunk is a token, or the tool itself wrote them as such
        bool_and(itl_is_recorded or token_event = 'token') filter (done and len(itl_s) > 0) as gaps_are_itl,
        bool_or(events < output_tokens) filter (done) as itl_is_per_chunk
    from counted
    group by run
),
finish as (
    select run, map_from_entries(list({k: finish_reason, v: n} order by finish_reason)) as finish
    from (
        select run, finish_reason, count(*) as n
        from counted
        where is_counted and finish_reason is not null
        group by all
    )
    group by run
)
select
    request_runs.run, file, ordinal, format, duration_s, concurrency, request_rate, tool_summary,
    request_runs.completed as stated_completed, request_runs.failed as stated_failed,
    request_runs.incomplete as stated_incomplete,
    per_run.* exclude (run, gaps_are_itl),
    case when gaps_are_itl then mean_gap_s end as mean_itl_s,
    finish
from request_runs
left join per_run using (run)
left join finish using (run);
