-- one row per (run, concept): why a figure that the pages do export is no number all the same
create table run_unusable as
with reasons as (
    select samples.page, concepts.concept, 'is exported as NaN' as why
    from samples
    join concept_series as concepts on samples.series = concepts.series
    where isnan(samples.value) and concepts.statistic in ('sum', 'value') and concepts.type in ('counter', 'histogram')
    union all
    select page_order.page, unnest(spoilt.concepts), 'is left out because of the defect ' || spoilt.defect
    from target_defects as spoilt
    join page_order on spoilt.target = page_order.target and spoilt.life = page_order.life
    where spoilt.action = 'excluded'
)

select coalesce(boot_pages.boot, boot_pages.target) as run, reasons.concept, min(reasons.why) as why
from reasons join boot_pages on reasons.page = boot_pages.page
group by all;
