-- one row per completed request that counts: what was answered, and two keys by which the same input is found in another boot
-- `input_id` is the client's id without the boot's name; `place` is the record's place in its file. With equal prompt tokens
-- beside them they name an input; a client that draws its ids at random leaves only the place.
create view saved_answers as
select
    request_boots.boot, coalesce(metrics.class, 'unlabelled') as class, parse_filename(metrics.file) as file_name, metrics.ordinal as place,
    replace(metrics.request, request_boots.boot, '') as input_id,
    metrics.prompt_tokens, metrics.output_tokens, metrics.finish_reason, metrics.valid, requests.output_text
from request_metrics as metrics
join requests using (run, ordinal)
join request_boots on metrics.file = request_boots.file
where is_counted and is_completed;
