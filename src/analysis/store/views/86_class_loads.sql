-- one row per (boot, class, phase, clock) of clients' records: what was sent, got and kept, and how long it took; warm-up requests and copies left out
-- `span_s` runs from the first request sent to the last end: ramp-up and drain are inside. Records without times of day span
-- as long as their tool says that it ran.
create view class_loads as
with counted as (
    select
        request_boots.boot, coalesce(class, 'unlabelled') as class, metrics.run,
        case when clock = 'none' then metrics.run else clock end as clock,
        metrics.* exclude (class, clock, run, file),
        is_completed as done,
        coalesce(finished_at_s, last_token_at_s, sent_at_s + e2e_s) as end_s,
        duration_s
    from request_metrics as metrics
    join request_boots using (file)
    join request_runs using (run)
    where is_counted
)

select
    boot, class, phase, clock,
    count(*) as requests,
    count(*) filter (done) as completed,
    count(*) filter (not done and status = 'aborted') as aborted,
    count(*) filter (not done and status <> 'aborted' and status <> 'incomplete') as failed,
    count(*) filter (not done and status = 'incomplete') as incomplete,
    count(valid) filter (done) as judged,
    count(*) filter (done and valid) as valid,
    coalesce(max(end_s) - min(sent_at_s), max(duration_s))::double as span_s
from counted
group by boot, class, phase, clock;
