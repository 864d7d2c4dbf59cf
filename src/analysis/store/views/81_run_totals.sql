-- one row per (run, concept, statistic, le, key): the increase over all pages of the run, and the first of them
-- fsum: the last digit of a plain sum would depend on which thread came first.
create table run_totals as
with runs as (
    select page, boot, coalesce(boot, target) as run, dense_rank() over (order by coalesce(boot, target), boot)::integer as of_run
    from boot_pages
),

kinds as (
    select distinct
        meaning, concept, statistic, le, key, dense_rank() over (order by concept, statistic, le, key)::integer as kind
    from concept_meanings
),

sums as (
    select runs.of_run, kinds.kind, fsum(steps.increase)::double as total, min(steps.page) as first_page
    from concept_increases as steps join runs on steps.page = runs.page join kinds on steps.meaning = kinds.meaning
    group by runs.of_run, kinds.kind
)

select runs.run, runs.boot, kinds.concept, kinds.statistic, kinds.le, kinds.key, sums.total, sums.first_page
from sums
join (select distinct of_run, run, boot from runs) as runs on sums.of_run = runs.of_run
join (select distinct kind, concept, statistic, le, key from kinds) as kinds on sums.kind = kinds.kind
where sums.total is not null;
