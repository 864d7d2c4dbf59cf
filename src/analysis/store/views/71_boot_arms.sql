-- one row per boot: what its log says, the arm it belongs to, and its setting as far as the log prints it
-- The arm is the one that study.toml declares; without one, boots of one length, batch and kind of memory budget are an arm.
-- Boots of one arm may still differ in their setting; no spread is reported over different settings.
create view boot_arms as
with printed as (
    select boot, string_agg(distinct fact || '=' || text, ' ' order by fact || '=' || text) as arguments
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
            'compile', compile_state, printed.arguments
        ) as setting,
        'len ' || coalesce(requested_max_model_len_tokens::varchar, max_model_len_tokens::varchar, '?')
            || ', batch ' || coalesce(max_num_batched_tokens::varchar, '?')
            || case when kv_budget_source = 'profiled' or kv_budget_source is null then '' else ', pinned' end
            as short_setting
    from boots left join printed using (boot)
    where boot not in (select boot from boot_copies)
)

select
    settings.*,
    coalesce(declared.arm, short_setting) as arm,
    declared.arm is not null as arm_is_declared
from settings left join declared using (boot);
