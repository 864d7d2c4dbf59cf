-- a page on which one counter of an engine fell while most of its others rose: no restart leaves them so
with metrics as (
    select
        steps.page, counters.part, regexp_replace(series.name, '_(bucket|count|sum)$', '') as name,
        bool_or(fell) as fell, bool_or(value > previous_value) as rose
    from counter_steps as steps
    join counter_series as counters on steps.series = counters.series
    join series on steps.series = series.series
    where steps.page in (select page from counter_steps where fell) and previous_value > 0 and steps.series in (select series from concept_series)
    group by all
),

parts as (
    select
        page, any_value(name) filter (where fell) as fallen, count(*) as counters,
        count(*) filter (where fell) as falls, count(*) filter (where rose and not fell) as rises
    from metrics group by page, part
)

select
    pages.file || ' page ' || pages.page_index as scope,
    format('{} fell, {} of {} other counters rose', fallen, rises, counters - 1) as detail
from parts join pages on parts.page = pages.page
-- Of two counters one may have outgrown its old value since a restart.
where falls = 1 and rises >= 2 and 2 * rises > counters - 1
order by all;
