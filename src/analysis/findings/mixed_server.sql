-- one row per (boot, phase, concept, statistic, le): increase of a histogram over the scrape intervals that touch that phase alone
-- Intervals first: they are numbers, a few for each page. Names and edges are joined to the sums.
with spans as (
    select span.boot, span.phase, span.start_s, span.end_s from (select unnest($spans) as span)
),

-- What finishes inside an interval that touches one phase only was sent in that phase, or in none.
inside as (
    select pages.page, any_value(boot_pages.file) as file, any_value(spans.boot) as boot, any_value(spans.phase) as phase
    from page_order as pages
    join page_order as before on pages.previous_page = before.page
    join boot_pages on pages.page = boot_pages.page
    join spans
        on boot_pages.boot = spans.boot and pages.scraped_at_s > spans.start_s and before.scraped_at_s < spans.end_s
    group by pages.page having count(*) = 1
),

meanings as (
    select distinct meaning, concept, statistic, le from concept_meanings where list_contains($concepts, concept)
),

-- fsum: the last digit of a plain sum would depend on which thread came first.
sums as (
    select inside.boot, inside.phase, meanings.concept, meanings.statistic, meanings.le, fsum(steps.increase)::double as increase
    from concept_increases as steps
    join inside on steps.page = inside.page
    join meanings on steps.meaning = meanings.meaning
    group by all
),

read as (
    select inside.boot, inside.phase, pages.concept, list(distinct inside.file order by inside.file)[:12] as files
    from (
        select distinct steps.page, meanings.concept
        from concept_increases as steps join meanings on steps.meaning = meanings.meaning
    ) as pages
    join inside on pages.page = inside.page
    group by all
)

select sums.*, read.files
from sums
join read on sums.boot = read.boot and sums.phase = read.phase and sums.concept = read.concept
order by all
