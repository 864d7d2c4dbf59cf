-- The store of one study. Every row names the file (relative to the study) and where it can the line it came from.
-- Units are in the column names: _s seconds, _bytes, _tokens. Times are unix seconds unless the column says otherwise.

-- one row per file found in the study directory
create table files (
    file varchar primary key, kind varchar not null, format varchar, size_bytes bigint, modified_at_s double, sha256 varchar,
    status varchar not null,          -- read | partial | unreadable | unrecognised | skipped
    message varchar                   -- one sentence: why, and what to do
);

-- one row per line that looks like a known one and does not parse
create table unparsed (file varchar not null, line bigint not null, what varchar not null, text varchar not null);

-- one row per metric page: one scrape of one exporter
create table pages (
    page integer primary key, file varchar not null, page_index integer not null,   -- page_index: from 0 inside the file
    target varchar not null,          -- what was scraped: the folder of the file, and the instance where the page names one
    scraped_at_s double, scraped_at_source varchar,   -- file name | scraped_at line | sample timestamp | mtime
    process_start_s double            -- process_start_time_seconds, or the earliest _created; null when not exported
);

-- one row per distinct series of the study
create table series (
    series integer primary key, name varchar not null,      -- sample name as exported, after prefix repair
    labels varchar not null           -- JSON object, keys sorted
);

-- one row per sample
create table samples (
    page integer not null using compression rle,            -- what fits best is told: to try all takes as long again
    series integer not null using compression bitpacking,
    line integer not null using compression bitpacking,
    value double using compression alp
);

-- one row per replica of a fleet and series: what a server computed for it over the whole period
create table replica_totals (
    file varchar not null, line bigint not null, replica varchar not null,
    name varchar not null,            -- sample name as its engine exports it
    labels varchar not null,          -- JSON object, keys sorted
    value double not null,            -- counters and histogram sums and counts: the increase; gauges: the last value
    is_setting boolean not null       -- an info metric whose labels say how the replica is set
);

-- one row per boot: what its log says, resolved by the rules of the engine's version
create table boots (
    boot varchar primary key,         -- file stem; stem#k for the k-th boot in a file; stem#service
    file varchar not null, first_line bigint not null, last_line bigint not null, ordinal integer not null,
    engine varchar, engine_version varchar, model varchar,
    outcome varchar not null,         -- served | refused | crashed | unknown
    outcome_line bigint, died_after_serving boolean,
    max_model_len_tokens bigint, requested_max_model_len_tokens bigint, max_num_batched_tokens bigint,
    kv_budget_source varchar,         -- profiled | kv_cache_memory_bytes | num_gpu_blocks_override | fixed
    compile_state varchar,            -- cold | warm | none (no compilation) ; null when the log does not say
    available_kv_gib double[], available_kv_gib_min double, available_kv_bytes double,   -- per rank, in rank order; bytes of the least
    kv_needed_gib double, estimated_max_len_tokens bigint,
    token_pool_tokens bigint, token_pool_by_engine bigint[], token_pool_total_tokens bigint, engines integer,
    blocks bigint, block_size_tokens bigint, max_concurrency double,
    pool_consistent boolean, implied_pool_tokens double, api_servers integer,
    kv_dtype varchar, started_at_text varchar, ready_s double   -- started_at_text: as the log has it, no year or zone
);

-- one row per fact in a boot log line
create table boot_facts (
    boot varchar not null, file varchar not null, line bigint not null,
    fact varchar not null,            -- name of the fact in engines/<engine>/boot_lines.toml
    engine_index integer, rank integer,
    text varchar, value double, unit varchar,
    since_start_s double,             -- from the boot's first printed time to the last one printed up to this line
    quote varchar                     -- the line, cut to 400 characters
);

-- one row per engine step, where the engine logs its iterations
create table engine_steps (
    boot varchar not null, file varchar not null, line bigint not null, iteration bigint,
    engine_index integer, logged_at_text varchar,
    context_requests bigint, context_tokens bigint, generation_requests bigint, generation_tokens bigint, elapsed_s double
);

-- one row per run of a load generator: one benchmark, or one file of traces
create table request_runs (
    run varchar primary key, file varchar not null, ordinal integer not null, format varchar not null, tool_version varchar,
    started_at_s double, duration_s double, concurrency double, request_rate double,   -- null: not stated, or unlimited
    completed bigint, failed bigint, incomplete bigint,   -- as the tool counted, where per-request rows are missing
    tool_summary varchar              -- JSON: the tool's own summary, under the tool's own names
);

-- one row per request
create table requests (
    run varchar not null, file varchar not null, line bigint, ordinal bigint not null,
    request varchar, server_request varchar, class varchar, phase varchar,
    clock varchar not null,           -- unix | monotonic | none: what sent_at_s counts from
    sent_at_s double, first_token_at_s double, last_token_at_s double, finished_at_s double,
    ttft_s double, e2e_s double,
    token_at_s double[],              -- arrival of each event, same clock, where known
    itl_s double[],                   -- gaps between events, where known
    token_event varchar,              -- chunk | token: what one event is; null when there are no events
    prompt_tokens bigint, output_tokens bigint, tokens_counted_by varchar,   -- server | client
    tokens_cum bigint[],
    finish_reason varchar, http_status integer,
    status varchar not null,          -- ok | error | incomplete | aborted | warmup
    valid boolean, error varchar, output_text varchar,
    outcome varchar, attempt bigint   -- outcome: pass | retry | abstain | repair, as the client judged; attempt: from 1
);

-- one row per reading of a host counter
create table host_counters (file varchar not null, line bigint not null, run varchar, at_s double, counter varchar not null, value double, unit varchar);

-- one row per value that the study's own description gives: what was intended, never a measurement
create table study_facts (
    file varchar not null, line bigint,
    key varchar not null,             -- path of the key: hardware.memory_gib, boots[0].args
    value varchar                     -- JSON; a TOML date or time as its text
);

-- one row per boot that a description declares; study.toml and boots.jsonl may both declare it
create table declared_boots (
    file varchar not null, line bigint, ordinal integer not null, boot varchar not null, arm varchar, args varchar,
    start_s double, ready_s double, stop_s double,   -- unix seconds
    exit_status varchar, loaded boolean, note varchar
);

-- one row per phase of a declared boot
create table declared_phases (
    file varchar not null, boot varchar not null, ordinal integer not null, phase varchar,
    start_s double, end_s double, chat_concurrency double, batch_concurrency double
);

-- one row per claim that was published about the study, as published.toml states it
create table published_claims (
    file varchar not null, line bigint, ordinal integer not null, claim varchar not null,
    text varchar not null, published double, printed varchar, rounding double, unit varchar,   -- rounding: half a unit of the last printed digit
    estimate varchar not null, place varchar not null,   -- the figure that it is held against; JSON: its qualifiers
    over varchar, over_place varchar not null,   -- divided by this one
    relation varchar not null,        -- equals | at_most | at_least | is_bound | equivalent | different
    excludes double,                  -- the sentence needs an interval without this value
    stands varchar not null, note varchar                     -- the verdict that the author stands by
);

-- one row per known defect that touched this study
create table defects (
    defect varchar not null, engine varchar not null, versions varchar not null, scope varchar,   -- scope: file, target or boot it was found in
    detected_by varchar not null, action varchar not null,   -- action: corrected | excluded | warned
    detail varchar
);

-- one row per contradiction that a check found (store/checks/*.sql); of each check the first 200
create table violations (
    "check" varchar not null, means varchar not null,   -- the file of the check, and what a row of it means
    run varchar, scope varchar not null, detail varchar not null   -- the run it touches; a page of a file, or a life of a target
);
