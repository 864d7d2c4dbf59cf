-- one row per series of counters and histogram parts: what restarts with it (`part`), and whether its fall shows a restart (witness)
create table counter_series as
with counters as (
    select
        series,
        -- What restarts together: an engine of a data-parallel group, a replica, a worker, a model.
        concat_ws('/', labels ->> '$.engine', labels ->> '$.dp_rank', labels ->> '$.ReplicaId', labels ->> '$.WorkerId',
            labels ->> '$.worker_id', labels ->> '$.worker_addr', labels ->> '$.pid',
            coalesce(labels ->> '$.model_name', labels ->> '$.model')) as part_name,
        -- A sum of times can fall without a restart (a negative observation); its count, a bucket or a total cannot.
        not (name like '%\_sum' escape '\' and exists (
            from series as twin
            where twin.labels = series.labels and twin.name = left(series.name, -4) || '_count'
        )) as witness
    from series
    where regexp_matches(name, '_(total|sum|count|bucket)$')
        or name in (select sample_name from metric_names where type = 'counter')
)

select series, dense_rank() over (order by part_name)::integer as part, part_name, witness from counters;
