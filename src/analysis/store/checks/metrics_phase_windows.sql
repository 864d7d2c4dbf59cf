-- a life of a target in which the phases' sums begin or end at different scrapes, because a page lacks one of them
with windows as (
    select
        totals.target, totals.life, totals.concept,
        min(first_pages.position) as first_position, max(last_pages.position) as last_position
    from concept_totals as totals
    join page_order as first_pages on totals.first_page = first_pages.page
    join page_order as last_pages on totals.last_page = last_pages.page
    where totals.statistic in ('sum', 'value')
        and totals.concept in ('prefill_time', 'decode_time', 'batch_prefill_time', 'batch_decode_time')
    group by totals.target, totals.life, totals.concept
)

select
    target || ' life ' || life as scope,
    string_agg(format('{} from scrape {} to {}', concept, first_position, last_position), ', ' order by concept) as detail
from windows
group by target, life
having count(distinct first_position) > 1 or count(distinct last_position) > 1
order by all;
