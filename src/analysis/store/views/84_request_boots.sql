-- one row per file of requests whose boot is known: the boot that served it
-- A folder or the file's name says it, or there is only one boot; of two boots that fit, the longer name.
create view request_boots as
select file, boot
from (
    select
        requests.file,
        boots.boot,
        row_number() over (partition by requests.file order by rule, length(boots.boot) desc, boots.boot) as rank
    from (select distinct file from requests) as requests
    cross join boots
    cross join lateral (
        select case
            when list_contains(string_split(requests.file, '/')[:-2], boots.boot) then 1
            when regexp_matches(substr(parse_filename(requests.file), length(boots.boot) + 1), '^[-_.]')
                and starts_with(parse_filename(requests.file), boots.boot) then 2
            when (select count(*) from boots) = 1 then 3
        end as rule
    )
    where rule is not null
)
where rank = 1;
