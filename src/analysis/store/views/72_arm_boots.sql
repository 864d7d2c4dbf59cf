-- one row per boot that has a log or is declared: its arm, session and times, and what its log says of it as a unit
-- Times are unix seconds: declared, else those of its pages (a log has no year). ready_s counts from the log's first printed time,
-- process_ready_s from the start of the process; ready_step_s is how finely the coarser tells times apart.
create view arm_boots as
with named as (
    select file, regexp_extract(key, '^boots\[\d+\]') as place, trim(both '"' from value) as boot
    from study_facts where regexp_full_match(key, 'boots\[\d+\]\.id')
),

stated as (
    select
        named.boot,
        max(trim(both '"' from facts.value)) filter (facts.key = place || '.session') as session,
        max(trim(both '"' from facts.value)) filter (facts.key = place || '.cache') as cache_state
    from named join study_facts as facts using (file)
    group by named.boot
),

scraped as (
    select boot, min(scraped_at_s) as first_s, max(scraped_at_s) as last_s
    from boot_pages join pages using (page)
    where boot is not null group by boot
),

names as (
    select boot from boot_arms
    union
    select boot from declared where boot not in (select boot from boot_copies)
)

select
    names.boot,
    coalesce(boot_arms.arm, declared.arm, 'not known') as arm,
    coalesce(declared.arm is not null, false) as arm_is_declared,
    coalesce(boot_arms.outcome, 'no log') as outcome,
    coalesce(boot_arms.died_after_serving, false) as died_after_serving,
    stated.session, stated.cache_state, boot_arms.compile_state,
    coalesce(declared.start_s, scraped.first_s) as start_s,
    coalesce(declared.stop_s, scraped.last_s, declared.start_s) as end_s,
    boot_arms.engine, boot_arms.engine_version, boot_arms.model, boot_arms.kv_dtype, boot_arms.kv_budget_source,
    coalesce(boot_arms.requested_max_model_len_tokens, boot_arms.max_model_len_tokens) as max_model_len_tokens,
    boot_arms.max_num_batched_tokens, boot_arms.token_pool_total_tokens, boot_arms.available_kv_bytes, boot_arms.ready_s,
    start_ups.process_s as process_ready_s, start_ups.step_s as ready_step_s,
    boot_arms.ordinal_in_study
from names
left join boot_arms using (boot)
left join declared using (boot)
left join stated using (boot)
left join scraped using (boot)
left join start_ups using (boot);
