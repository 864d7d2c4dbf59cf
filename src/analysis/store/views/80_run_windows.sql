-- one row per (run, page, concept, statistic, le, key): the increase since the page before it, with the interval's times
-- A run is what one boot did while it was scraped; pages of no known boot are a run of their target.
create view run_windows as
select
    coalesce(boot_pages.boot, boot_pages.target) as run,
    boot_pages.boot,
    page_order.page, page_order.file, page_order.target, page_order.life,
    before.scraped_at_s as start_s, page_order.scraped_at_s as end_s,
    concept_steps.concept, concept_steps.statistic, concept_steps.le, concept_steps.key,
    sum(concept_steps.increase)::double as increase
from concept_steps
join page_order using (page)
join boot_pages using (page)
left join page_order as before on page_order.previous_page = before.page
group by all;
