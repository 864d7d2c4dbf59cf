-- one row per replica of a fleet: a server's totals name it, or its pages were scraped while another run's were
create view replicas as
with runs as (
    select
        coalesce(boot_pages.boot, boot_pages.target) as replica, min(scraped_at_s) as first_s, max(scraped_at_s) as last_s
    from page_order join boot_pages using (page)
    where scraped_at_source <> 'mtime'
    group by all
),

beside as (
    select distinct one.replica
    from runs as one join runs as other
        on one.replica <> other.replica and greatest(one.first_s, other.first_s) < least(one.last_s, other.last_s)
)

select distinct replica, 'server' as source from replica_totals
union all
select replica, 'pages' from beside where not exists (from replica_totals);
