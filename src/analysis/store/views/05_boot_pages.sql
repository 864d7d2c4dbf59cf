-- one row per page: the boot it was scraped from, or null when nothing says so
-- First what study.toml says ([[boots]] files = ["metrics/x/*"]); then a folder of the page's path with a boot's name; then a
-- file name that starts with it; then the only boot there is. Of two boots that fit, the longer name.
create table boot_pages as
with candidates as (
    select
        pages.page,
        boots.boot,
        case
            when exists (
                from declared_files
                where declared_files.boot = boots.boot and pages.file glob trim(both '"' from declared_files.pattern)
            ) then 0
            when list_contains(string_split(pages.file, '/')[:-2], boots.boot) then 1
            when starts_with(parse_filename(pages.file), boots.boot || '-')
                or starts_with(parse_filename(pages.file), boots.boot || '_')
                or starts_with(parse_filename(pages.file), boots.boot || '.') then 2
            -- A boot that was refused, or crashed before it served, has no traffic.
            when (select count(*) from boots) = 1 and boots.outcome in ('served', 'unknown') then 3
        end as rule
    from pages cross join boots
),

ranked as (
    select page, boot, rule, row_number() over (partition by page order by rule, length(boot) desc, boot) as rank
    from candidates where rule is not null
)

select
    pages.page, pages.file, ranked.boot, ranked.rule,
    -- Where pages do not say which process they show, those of two boots in one folder are two sequences.
    pages.target || case
        when ranked.boot is not null
            and min(ranked.boot) over of_target <> max(ranked.boot) over of_target
            and bool_or(pages.process_start_s is null) over of_target
            then ' (boot ' || ranked.boot || ')'
        else ''
    end as target
from pages left join ranked on pages.page = ranked.page and ranked.rank = 1
window of_target as (partition by pages.target);
