-- one row per boot: what its log says, with the arm it belongs to and its setting
-- The arm is the one that study.toml declares; without one, boots of one setting are an arm, named by what they differ in.
create view boot_arms as
with settings as (
    select
        boots.*,
        row_number() over (order by boots.file, boots.ordinal) as ordinal_in_study,
        coalesce(engine_version, '?') || ' ' || coalesce(model, '?')
            || ' len ' || coalesce(requested_max_model_len_tokens::varchar, max_model_len_tokens::varchar, '?')
            || ' batch ' || coalesce(max_num_batched_tokens::varchar, '?')
            || coalesce(' kv ' || kv_dtype, '')
            || case when kv_budget_source = 'profiled' or kv_budget_source is null then '' else ' ' || kv_budget_source end
            as setting,
        'len ' || coalesce(requested_max_model_len_tokens::varchar, max_model_len_tokens::varchar, '?')
            || ', batch ' || coalesce(max_num_batched_tokens::varchar, '?')
            || case when kv_budget_source = 'profiled' or kv_budget_source is null then '' else ', pinned' end
            as short_setting
    from boots
    where duplicate_of is null
)

select
    settings.*,
    coalesce(declared.arm, short_setting) as arm,
    declared.arm is not null as arm_is_declared
from settings left join declared using (boot);
