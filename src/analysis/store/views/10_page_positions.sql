-- one row per page: its position in its target's sequence, and the process it shows (`process` numbers the study's processes)
-- By time where every page of the target has one that was recorded with it; else in the natural order of the files (that of page).
create table page_positions as
with timed as (
    select
        pages.* replace (boot_pages.target as target),
        bool_and(scraped_at_s is not null and scraped_at_source <> 'mtime') over (partition by boot_pages.target) as by_time,
        -- A selection of series, or a page that was cut: a series it lacks may have existed all the same.
        scraped_at_source = 'sample timestamp' or exists (
            from unparsed where unparsed.file = pages.file and unparsed.what = 'incomplete last line'
        ) as is_partial
    from pages join boot_pages on pages.page = boot_pages.page
),

placed as (
    select
        *,
        dense_rank() over (
            partition by target order by
                case when by_time then scraped_at_s end nulls first,
                case when by_time and scraped_at_source = 'sample timestamp' then -1 else page end
        ) - 1 as position
    from timed
),

started as (
    select
        page, file, target, scraped_at_s, scraped_at_source, is_partial, position,
        -- Answers of several queries lie in several files; the process start may be in one of them only.
        coalesce(
            process_start_s,
            last_value(process_start_s ignore nulls) over (partition by target order by position, page),
            first_value(process_start_s ignore nulls) over (
                partition by target order by position, page rows between current row and unbounded following
            )
        ) as process_start_s,
        max(position) over (partition by target) as last_position
    from placed
)

select *, dense_rank() over (order by target, process_start_s)::integer as process from started;
