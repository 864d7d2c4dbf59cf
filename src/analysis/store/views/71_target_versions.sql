-- one row per (target, life): the engine version that boot logs give it, or null
create view target_versions as
with told as (
    select page_order.target, page_order.life, boots.engine_version
    from page_order
    join boot_pages on page_order.page = boot_pages.page
    join boots on boot_pages.boot = boots.boot
),

only_version as (
    select any_value(engine_version) as engine_version from boots having count(distinct engine_version) = 1
)

select
    lives.target, lives.life,
    coalesce(
        case when count(distinct told.engine_version) = 1 then any_value(told.engine_version) end,
        case when count(distinct told.engine_version) = 0 then any_value(only_version.engine_version) end
    ) as engine_version,
    list_transform(
        string_split(nullif(regexp_extract(coalesce(
            case when count(distinct told.engine_version) = 1 then any_value(told.engine_version) end,
            case when count(distinct told.engine_version) = 0 then any_value(only_version.engine_version) end
        ), '[0-9]{1,9}([.][0-9]{1,9})*'), ''), '.'), lambda part: part::bigint
    ) as version_key
from (select distinct target, life from page_order) as lives
left join told on lives.target = told.target and lives.life = told.life
left join only_version on true
group by lives.target, lives.life;
