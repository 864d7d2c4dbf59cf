-- one row per counted request of a traffic class: its boot, phase, times and judgement; times count from its run's first request
-- The class is what the client wrote, else the one whose `files` in study.toml ([classes.<name>]) match. A request without
-- a phase is in the phase "all". `start_s` and `end_s` are comparable within a run only, unless `clock` is unix.
create view class_requests as
with declared_classes as (
    select
        regexp_extract(key, '^classes\.([^.\[\]]+)\.files$', 1) as class,
        trim(both '"' from unnest(try_cast(value as varchar[]))) as pattern
    from study_facts
    where regexp_full_match(key, 'classes\.[^.\[\]]+\.files')
),

file_classes as (
    select requests.file, min(declared_classes.class) as class
    from (select distinct file from requests) as requests
    join declared_classes on requests.file glob declared_classes.pattern
    group by requests.file
)

select
    coalesce(request_boots.boot, nullif(parse_dirpath(request_metrics.file), ''), 'the traces') as place,
    request_boots.boot, request_metrics.run, request_metrics.file, request_metrics.line, request_metrics.ordinal,
    coalesce(request_metrics.class, file_classes.class) as class,
    coalesce(request_metrics.phase, 'all') as phase,
    request_metrics.clock, request_metrics.status, request_metrics.is_completed, request_metrics.valid,
    requests.outcome, requests.attempt, request_metrics.http_status,
    request_metrics.sent_at_s as start_s,
    coalesce(
        request_metrics.finished_at_s, request_metrics.last_token_at_s, request_metrics.sent_at_s + request_metrics.e2e_s
    ) as end_s,
    request_metrics.ttft_s, request_metrics.e2e_s, request_metrics.tpot_s, request_metrics.token_at_s,
    request_metrics.tokens_cum, request_metrics.itl_s, request_metrics.prompt_tokens, request_metrics.output_tokens
from request_metrics
join requests on request_metrics.run = requests.run and request_metrics.ordinal = requests.ordinal
left join request_boots on request_metrics.file = request_boots.file
left join file_classes on request_metrics.file = file_classes.file
where request_metrics.is_counted and coalesce(request_metrics.class, file_classes.class) is not null;
