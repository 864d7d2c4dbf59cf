-- one row per (target, life, concept, statistic, le, engine_label, model, key): the increase over the life's pages, in base units
-- fsum: the last digit of a plain sum would depend on which thread came first.
create table concept_totals as
select
    steps.target, steps.life, steps.engine, steps.concept, steps.statistic, steps.le,
    steps.engine_label, steps.model, steps.key,
    fsum(steps.increase)::double as total,
    arg_min(steps.page, pages.position) as first_page,
    arg_max(steps.page, pages.position) as last_page,
    any_value(pages."window") as "window"
from concept_steps as steps
join page_order as pages on steps.page = pages.page
group by all;
