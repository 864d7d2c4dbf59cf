-- one row per contradiction between what study.toml declares and what the logs say, or within one of them
with settings as (
    select
        trim(both '"' from ids.value) as boot,
        regexp_extract(stated.key, '[^.]*$') as setting,
        try_cast(stated.value as bigint) as tokens,
        stated.file || coalesce(':' || stated.line, '') as place
    from study_facts as stated
    join study_facts as ids
        on ids.file = stated.file and ids.key = regexp_replace(stated.key, '\.[^.]*$', '.id')
    where regexp_full_match(stated.key, 'boots\[\d+\]\.(max_model_len|max_num_batched_tokens)')
),

logged as (
    select
        boot, 'max_model_len' as setting,
        list_filter([max_model_len_tokens, requested_max_model_len_tokens], lambda tokens: tokens is not null) as found
    from boots
    union all
    select boot, 'max_num_batched_tokens', list_filter([max_num_batched_tokens], lambda tokens: tokens is not null)
    from boots
)

select
    'a declared boot has no log' as what,
    boot || ' (' || file || coalesce(':' || line, '') || ')' as "where",
    arm as declared,
    null::varchar as found
from declared
where boot not in (select boot from boots)

union all
select
    'a boot is declared in several arms',
    d.boot || ' (' || string_agg(d.file || coalesce(':' || d.line, ''), ', ' order by d.file, d.line) || ')',
    string_agg(distinct d.arm, ', ' order by d.arm),
    'taken: ' || coalesce(any_value(declared.arm), 'none')
from declared_boots as d
join declared using (boot)
group by d.boot
having count(distinct d.arm) > 1

union all
select
    setting || ' differs from the log''s', boot || ' (' || place || ')', tokens::varchar,
    array_to_string(list_distinct(found), ', asked for ')
from settings
join logged using (boot, setting)
where tokens is not null and len(found) > 0 and not list_contains(found, tokens)

union all
-- llama.cpp prints a build number beside its version: two names of one thing, and `build` is not compared
select
    'a log names several versions of its engine',
    boot || ' (' || any_value(file) || ':' || array_to_string(list_sort(list(distinct line)), ', ') || ')',
    null,
    string_agg(distinct text, ', ' order by text)
from boot_facts
where fact in ('version', 'engine_version')
group by boot
having count(distinct text) > 1

order by all
