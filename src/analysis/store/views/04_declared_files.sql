-- one row per boot and pattern of files that study.toml gives it ([[boots]] files = ["metrics/x/*"])
create view declared_files as
select
    trim(both '"' from ids.value) as boot,
    unnest(try_cast(patterns.value as varchar[])) as pattern
from study_facts as patterns
join study_facts as ids
    on ids.file = patterns.file and ids.key = regexp_replace(patterns.key, '\.files$', '.id')
where regexp_full_match(patterns.key, 'boots\[\d+\]\.files');
