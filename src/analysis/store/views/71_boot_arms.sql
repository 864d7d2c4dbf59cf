-- one row per boot: what its log says, the arm it belongs to, and its setting as far as the log prints it
-- The arm is the one that study.toml declares; without one, boots of one length, batch and kind of memory budget are an arm, and
-- where such boots differ in version, model or a printed argument, these are in its name too.
-- Boots of a declared arm may still differ in their setting; no spread is reported over different settings.
-- Boots of one `request_setting` give a request of one length, at one batch size, the same memory: how much memory there is for all of
-- them does not matter there. Boots of one `population` may have got the same memory: same setting, budget, compile cache and host.
create view boot_arms as
with arguments as (
    select boot, fact, fact || '=' || text as said
    from boot_facts
    where starts_with(fact, 'arg.')
        -- Where a server listens and what it is called is not a setting of the engine.
        and fact not in ('arg.host', 'arg.port', 'arg.model_tag', 'arg.served_model_name', 'arg.uvicorn_log_level')
),

printed as (
    select
        boot,
        string_agg(distinct said, ' ' order by said) as arguments,
        list(distinct replace(said, 'arg.', '') order by replace(said, 'arg.', '')) as named,
        string_agg(distinct said, ' ' order by said) filter (
            where fact not in (
                'arg.max_model_len', 'arg.max_num_batched_tokens', 'arg.gpu_memory_utilization', 'arg.kv_cache_memory_bytes',
                'arg.kv_cache_memory', 'arg.num_gpu_blocks_override'
            )
        ) as of_requests,
        string_agg(distinct said, ' ' order by said) filter (
            where fact in (
                'arg.gpu_memory_utilization', 'arg.kv_cache_memory_bytes', 'arg.kv_cache_memory',
                'arg.num_gpu_blocks_override'
            )
        ) as of_memory,
        any_value(said) filter (where fact = 'arg.gpu_memory_utilization') as utilization
    from arguments group by boot
),

settings as (
    select
        boots.* replace (coalesce(boots.compile_state, stated.compile_state) as compile_state),
        stated.host,
        printed.utilization,
        row_number() over (order by boots.file, boots.ordinal) as ordinal_in_study,
        concat_ws(
            ' ', engine, engine_version, model, 'len', coalesce(requested_max_model_len_tokens, max_model_len_tokens),
            'batch', max_num_batched_tokens, 'kv', kv_dtype, kv_budget_source,
            'compile', coalesce(boots.compile_state, stated.compile_state), 'host', stated.host, printed.arguments
        ) as setting,
        concat_ws(' ', engine, engine_version, model, 'kv', kv_dtype, printed.of_requests) as request_setting,
        concat_ws(
            ' ', engine, engine_version, model, 'kv', kv_dtype, printed.of_requests, printed.of_memory, kv_budget_source,
            'compile', coalesce(boots.compile_state, stated.compile_state), 'host', stated.host
        ) as population,
        'len ' || coalesce(requested_max_model_len_tokens::varchar, max_model_len_tokens::varchar, '?')
            || ', batch ' || coalesce(max_num_batched_tokens::varchar, '?')
            || case when kv_budget_source = 'profiled' or kv_budget_source is null then '' else ', pinned' end
            as short_setting,
        list_filter(
            list_concat(
                [engine || coalesce(' ' || engine_version, ''), model, 'kv ' || kv_dtype], coalesce(printed.named, [])
            ),
            lambda part: part is not null
        ) as parts
    from boots left join printed using (boot) left join boot_statements as stated using (boot)
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
