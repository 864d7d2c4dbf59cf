-- one row per run of a load generator, without those that repeat another
create view distinct_runs as
select run_metrics.*, coalesce(also.files, []) as also_in
from run_metrics
left join (select repeats_run as run, list(file order by file) as files from run_twins group by repeats_run) as also using (run)
where run not in (select run from run_twins);
