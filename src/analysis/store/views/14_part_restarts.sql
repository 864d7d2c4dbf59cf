-- one row per (target, process, position, part): an engine or replica whose counters fell there, so that it restarted
create table part_restarts as
select target, process_start_s, position, part
from counter_steps
group by target, process_start_s, position, part
having bool_or(fell);
