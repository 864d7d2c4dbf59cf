-- one row per page: the boot it was scraped from, or null when nothing says so
-- A folder of the page's path with a boot's name decides; else a file name that starts with it; else the only boot there is.
create view boot_pages as
with candidates as (
    select
        pages.page,
        boots.boot,
        case
            when list_contains(string_split(pages.file, '/')[:-2], boots.boot) then 1
            when starts_with(parse_filename(pages.file), boots.boot || '-')
                or starts_with(parse_filename(pages.file), boots.boot || '_')
                or starts_with(parse_filename(pages.file), boots.boot || '.') then 2
            when (select count(*) from boots) = 1 then 3
        end as rule
    from pages cross join boots
),

ranked as (
    select page, boot, rule, row_number() over (partition by page order by rule, length(boot) desc, boot) as rank
    from candidates where rule is not null
)

select pages.page, pages.file, pages.target, ranked.boot, ranked.rule
from pages left join ranked on pages.page = ranked.page and ranked.rank = 1;
