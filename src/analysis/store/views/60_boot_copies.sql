-- one row per boot of a file that is a byte copy of an earlier one: the boot that it repeats
create view boot_copies as
with placed as (
    select boots.boot, boots.ordinal, boots.rowid as position, files.sha256
    from boots join files using (file)
),

first_copies as (
    select sha256, ordinal, min_by(boot, position) as boot from placed group by sha256, ordinal
)

select placed.boot, first_copies.boot as duplicate_of
from placed join first_copies using (sha256, ordinal)
where placed.boot <> first_copies.boot;
