-- one row per boot that the study declares: study.toml before boots.jsonl where both name it
create view declared as
select * exclude (place)
from (
    select *, row_number() over (partition by boot order by file not like '%.toml', file, ordinal) as place
    from declared_boots
)
where place = 1;
