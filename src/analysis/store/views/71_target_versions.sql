-- one row per (target, life) whose engine and version boot logs tell: those of its boots, else those of all boots
create view target_versions as
with told as (
    select
        page_order.target, page_order.life, any_value(boots.engine) as engine, any_value(boots.engine_version) as engine_version,
        count(distinct (boots.engine, boots.engine_version)) as versions
    from page_order
    join boot_pages on page_order.page = boot_pages.page
    join boots on boot_pages.boot = boots.boot
    where boots.engine_version is not null
    group by page_order.target, page_order.life
),

only_version as (
    select any_value(engine) as engine, any_value(engine_version) as engine_version
    from boots having count(distinct (engine, engine_version)) = 1
),

chosen as (
    select target, life, engine, engine_version from told where versions = 1
    union all
    select lives.target, lives.life, only_version.engine, only_version.engine_version
    from (select distinct target, life from page_order) as lives
    anti join told on lives.target = told.target and lives.life = told.life
    cross join only_version
)

select
    target, life, engine, engine_version,
    list_transform(
        string_split(nullif(regexp_extract(engine_version, '[0-9]{1,9}([.][0-9]{1,9})*'), ''), '.'), lambda part: part::bigint
    ) as version_key
from chosen;
