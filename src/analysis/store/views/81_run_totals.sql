-- one row per (run, concept, statistic, le, key): the increase over all pages of the run
create view run_totals as
select run, boot, concept, statistic, le, key, sum(increase)::double as total
from run_windows
group by all
having total is not null;
