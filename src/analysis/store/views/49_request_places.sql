-- one row per request record: whether its run has it already, and in which run it is kept when several exports hold it
create table request_places as
select
    run, ordinal,
    row_number() over (partition by run, coalesce(request, 'row ' || ordinal) order by ordinal) > 1 as is_repeated,
    -- two exports of one run hold the same request ids and times: the fuller one is kept
    first_value(run) over (
        partition by coalesce(request || ' ' || sent_at_s, run || ' ' || ordinal)
        order by has_no_events, finish_reason is null, file, ordinal
    ) as kept_in_run
from (select run, ordinal, file, request, sent_at_s, finish_reason, token_at_s is null as has_no_events from requests);
