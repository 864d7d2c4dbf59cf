-- one row per bucket series of a page's histograms: which histogram it is of, its le, and its place in the order of le
create view histogram_buckets as
with buckets as (
    select
        series, left(name, -7) as name, regexp_replace(labels, '"le":"[^"]*",?', '') as labels,
        try_cast(labels ->> '$.le' as double) as le
    from series where name like '%\_bucket' escape '\'
)

select
    *, dense_rank() over (order by name, labels)::integer as histogram, row_number() over (order by le)::integer as place
from buckets where le is not null;
