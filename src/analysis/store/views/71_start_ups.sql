-- one row per boot that says when it was ready: seconds by its log and by its process, which begin at two moments and are never one figure
-- log_s: from the first printed time of its log to its last one up to readiness. process_s: from the start of the process, as declared:
-- ready_s in study.toml, else in boots.jsonl, else ready less start. step_s: how finely the coarser of the two tells times apart.
create view start_ups as
with named as (
    select file, regexp_extract(key, '^boots\[\d+\]') as place, trim(both '"' from value) as boot
    from study_facts where regexp_full_match(key, 'boots\[\d+\]\.id')
),

stated as (
    select named.boot, file, facts.line, try_cast(facts.value as double) as seconds, 0 as step_s, 0 as rank
    from named join study_facts as facts using (file) where facts.key = named.place || '.ready_s'
    union all
    select boot, file, line, ready_s - start_s, case when ready_s = floor(ready_s) and start_s = floor(start_s) then 1 else 0 end, 1
    from declared_boots
),

process as (
    select * from stated where seconds > 0 and isfinite(seconds)
    qualify row_number() over (partition by boot order by rank, file not like '%.toml', file, line) = 1
),

logged as (
    select
        boot, ready_s as seconds,
        -- A process that counts from its own start prints minutes.seconds.milliseconds.microseconds.
        case when regexp_full_match(started_at_text, '\d+\.\d\d\.\d{3}\.\d{3}') then 1e-6
            else power(10, -length(regexp_extract(started_at_text, '\.(\d+)$', 1))) end as step_s
    from boots where ready_s is not null
)

select
    boot, logged.seconds as log_s, process.seconds as process_s,
    greatest(logged.step_s, process.step_s)::double as step_s, process.file, process.line
from logged full join process using (boot);
