-- one row per boot of which study.toml says what its log cannot: on which host, with which compile cache, and where the figures come from
create view boot_statements as
select
    trim(both '"' from ids.value) as boot,
    any_value(trim(both '"' from facts.value)) filter (where ends_with(facts.key, '.host')) as host,
    any_value(trim(both '"' from facts.value)) filter (where ends_with(facts.key, '.compile_state')) as compile_state,
    any_value(trim(both '"' from facts.value)) filter (where ends_with(facts.key, '.source')) as source
from study_facts as facts
join study_facts as ids
    on ids.file = facts.file and ids.key = regexp_replace(facts.key, '\.[^.]*$', '.id')
where regexp_full_match(facts.key, 'boots\[\d+\]\.(host|compile_state|source)')
group by trim(both '"' from ids.value);
