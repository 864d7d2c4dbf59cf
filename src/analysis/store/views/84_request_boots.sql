-- one row per file of requests and boot that it may belong to: by a folder or the name of the file, or the only boot; the best has rank 1
create view request_boots as
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
where rule is not null;

