-- one row per file of request records that is known to belong to a boot: the boot, which has a log or is declared
-- First what study.toml says ([[boots]] files = ["requests/x/*"]); then a folder of the path with a boot's name; then a file name
-- that starts with it; then the only boot there is. Of two boots that fit, the longer name.
create view request_boots as
with boot_names as (
    select boot from boots union select boot from declared
),

candidates as (
    select
        found.file,
        boot_names.boot,
        case
            when exists (
                from declared_files
                where declared_files.boot = boot_names.boot and found.file glob trim(both '"' from declared_files.pattern)
            ) then 0
            when list_contains(string_split(found.file, '/')[:-2], boot_names.boot) then 1
            when regexp_matches(substr(parse_filename(found.file), length(boot_names.boot) + 1), '^[-_.]')
                and starts_with(parse_filename(found.file), boot_names.boot) then 2
            when (select count(*) from boot_names) = 1 then 3
        end as rule
    from (select distinct file from request_runs) as found
    cross join boot_names
)

select file, boot
from candidates
where rule is not null
qualify row_number() over (partition by file order by rule, length(boot) desc, boot) = 1;
