-- one row per boot whose log breaks its memory down: GiB by what it went to, of the rank with the least left for the cache
-- A part is as printed; null where the log does not print it. `graphs_gib` is the estimate that was taken off, else what was captured.
create view memory_facts as
with pivoted as (
    select
        boot,
        max(value) filter (where fact = 'memory_weights') as weights_gib,
        max(value) filter (where fact = 'memory_peak_activation') as peak_gib,
        max(value) filter (where fact = 'memory_non_torch') as non_torch_gib,
        max(value) filter (where fact = 'memory_consumed') as consumed_gib,
        coalesce(
            max(value) filter (where fact = 'memory_cudagraph_estimate'),
            max(value) filter (where fact in ('memory_cudagraph', 'memory_graph_capture'))
        ) as graphs_gib,
        max(value) filter (where fact = 'memory_requested') as requested_gib,
        max(value) filter (where fact = 'memory_total') as total_gib
    from boot_facts where starts_with(fact, 'memory_') and unit = 'GiB' group by boot
)

select
    boot_arms.boot, boot_arms.arm, boot_arms.ordinal_in_study, boot_arms.engine_version, boot_arms.max_num_batched_tokens,
    boot_arms.outcome, pivoted.* exclude (boot), boot_arms.available_kv_gib_min as cache_gib
from boot_arms join pivoted using (boot)
where coalesce(weights_gib, peak_gib, non_torch_gib, consumed_gib, graphs_gib) is not null;
