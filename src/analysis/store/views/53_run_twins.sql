-- one row per run that is another export of a run in the same folder: the run it repeats
create view run_twins as
with families as (
    select *,
        regexp_replace(file, '[^/]*$', '') as folder,
        -- vllm-bench-console and vllm-bench-serve-variant are of the family vllm
        split_part(format, '-', 1) as family,
        coalesce(stated_completed, completed) as n
    from run_metrics
)
select own.run, other.run as repeats_run, own.file
from families as own
join families as other
    on own.run <> other.run and own.folder = other.folder and own.family = other.family
    and own.format <> other.format
    -- a stage is a part of the requests that lie beside it
    and (own.n = other.n or own.format = 'inference-perf-stage')
    and coalesce(own.records, 0) = 0 and other.records > 0 and other.duplicate_of_run is null
    -- a console table rounds its seconds to two decimals
    and coalesce(abs(own.duration_s - other.duration_s) <= 0.0051, true)
qualify row_number() over (partition by own.run order by other.ordinal, other.file) = 1
union all
select run, duplicate_of_run, file
from run_metrics
where duplicate_of_run is not null and counted = 0;
