-- one row per (page, series) of counters and histogram parts: value, the value before it in the same process, and whether it fell
create table counter_steps as
with counters as (
    select
        series.series,
        -- What restarts together: an engine of a data-parallel group, a replica, a worker, a model.
        concat_ws('/', labels ->> '$.engine', labels ->> '$.dp_rank', labels ->> '$.ReplicaId', labels ->> '$.WorkerId',
            labels ->> '$.worker_id', labels ->> '$.worker_addr', labels ->> '$.pid',
            coalesce(labels ->> '$.model_name', labels ->> '$.model')) as part,
        -- A sum of times can fall without a restart (a negative observation); its count, a bucket or a total cannot.
        not (name like '%\_sum' escape '\' and exists (
            from series as twin
            where twin.labels = series.labels and twin.name = left(series.name, -4) || '_count'
        )) as witness
    from series
    where regexp_matches(name, '_(total|sum|count|bucket)$')
        or name in (select sample_name from metric_names where type = 'counter')
)

select
    samples.page, samples.series, samples.value, pages.target, pages.position, pages.process_start_s, counters.part, counters.witness,
    lag(samples.value) over process as previous_value,
    coalesce(counters.witness and samples.value < lag(samples.value) over process, false) as fell
from samples
join counters on samples.series = counters.series
join page_positions as pages on samples.page = pages.page
where not isnan(samples.value)
window process as (partition by pages.target, pages.process_start_s, samples.series order by pages.position, samples.page);
