-- one row per (run, concept): what its engine means by it, in the words of engines/<engine>/metrics.toml
create view run_definitions as
select distinct coalesce(boot_pages.boot, boot_pages.target) as run, names.concept, names.definition
from boot_pages
join page_order using (page)
join target_series as series on page_order.target = series.target and page_order.life = series.life
join metric_names as names on series.engine = names.engine and series.concept = names.concept
where names.definition is not null;
