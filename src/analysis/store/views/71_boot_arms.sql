-- one row per boot: what its log says, the arm it belongs to, and its setting as far as the log prints it
-- The arm is the one that study.toml declares; without one, boots of one length, batch and kind of memory budget are an arm, and
-- where such boots differ in version, model or a printed argument, these are in its name too.
-- Boots of a declared arm may still differ in their setting; no spread is reported over different settings.
create view boot_arms as
with printed as (
    select
        boot,
        list(distinct replace(fact, 'arg.', '') || '=' || text order by replace(fact, 'arg.', '') || '=' || text) as arguments
    from boot_facts
    where starts_with(fact, 'arg.')
        -- Where a server listens and what it is called is not a setting of the engine.
        and fact not in ('arg.host', 'arg.port', 'arg.model_tag', 'arg.served_model_name', 'arg.uvicorn_log_level')
    group by boot
),

settings as (
    select
        boots.*,
        row_number() over (order by boots.file, boots.ordinal) as ordinal_in_study,
        concat_ws(
            ' ', engine, engine_version, model, 'len', coalesce(requested_max_model_len_tokens, max_model_len_tokens),
            'batch', max_num_batched_tokens, 'kv', kv_dtype, kv_budget_source,
            'compile', compile_state, array_to_string(list_transform(printed.arguments, lambda a: 'arg.' || a), ' ')
        ) as setting,
        'len ' || coalesce(requested_max_model_len_tokens::varchar, max_model_len_tokens::varchar, '?')
            || ', batch ' || coalesce(max_num_batched_tokens::varchar, '?')
            || case when kv_budget_source = 'profiled' or kv_budget_source is null then '' else ', pinned' end
            as short_setting,
        list_filter(
            list_concat(
                [engine || coalesce(' ' || engine_version, ''), model, 'kv ' || kv_dtype], coalesce(printed.arguments, [])
            ),
            lambda part: part is not null
        ) as parts
    from boots left join printed using (boot)
    where boot not in (select boot from boot_copies)
),

-- what only some boots of a short setting have
own as (
    select boot, string_agg(part, ', ' order by part) as own_parts
    from (
        select boot, part, count(*) over (partition by short_setting, part) as boots_with
        from (select boot, short_setting, unnest(parts) as part from settings)
    )
    join settings using (boot)
    where boots_with < (select count(*) from settings as same where same.short_setting = settings.short_setting)
    group by boot
)

select
    settings.* exclude (parts),
    coalesce(declared.arm, concat_ws(', ', short_setting, own.own_parts)) as arm,
    declared.arm is not null as arm_is_declared
from settings left join own using (boot) left join declared using (boot);
