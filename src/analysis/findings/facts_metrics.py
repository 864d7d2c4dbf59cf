"""What the metric pages of a study add up to, as one object: the `metrics` section of facts."""

from typing import Any

import duckdb

from analysis import paths

_UNEVEN = paths.CHECKS / "metrics_phase_windows.sql"

Totals = dict[tuple[str, str], float]
"""(concept, statistic) to the sum over targets, lives, engines, models and labels; absent when not exported."""


def facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any] | None:
    """The totals over all pages (tests/cases/README.md); None without metric pages.

    Seconds, tokens and counts; null is "not exported" or "left out because of a known defect", never 0. Times are
    request-seconds unless `time_basis` says otherwise.
    """
    files = _value(connection, "select count(*) from files where kind = 'metrics'")
    if not files:
        return None
    totals = _totals(connection)
    prefill, decode, basis = _phases(totals)
    return {
        "engine": _value(connection, "select string_agg(distinct engine, ', ' order by engine) from concept_series"),
        "pages": files,
        "pages_used": _value(connection, "select count(distinct file) from pages"),
        "window": _value(connection, 'select min("window") from page_order'),
        "prefill_s": prefill,
        "decode_s": decode,
        "prefill_share": _share(connection, prefill, decode),
        "queue_s": totals.get(("queue_time", "sum")),
        **_finished(connection, totals),
        "prompt_tokens": _count(totals.get(("prompt_tokens", "value"))),
        "generation_tokens": _count(totals.get(("generation_tokens", "value"))),
        "resets": _value(connection, "select coalesce(sum(resets), 0)::bigint from page_order"),
        "prefix_cache": _cache(totals, ""),
        **_steps(connection, totals),
        "preemptions": _count(totals.get(("preemptions", "value"))),
        "notes": _notes(connection),
        **({"time_basis": basis} if basis else {}),
        **_more(connection, totals),
    }


def _totals(connection: duckdb.DuckDBPyConnection) -> Totals:
    rows = connection.sql(
        "select concept, statistic, sum(total)::double from concept_totals where statistic <> 'bucket' group by all"
    ).fetchall()
    return {(concept, statistic): total for concept, statistic, total in rows}


def _phases(totals: Totals) -> tuple[float | None, float | None, str | None]:
    """Prefill and decode seconds, and of which accounting they are when it is not request-seconds."""
    request = totals.get(("prefill_time", "sum"), totals.get(("prefill_time", "value")))
    decode = totals.get(("decode_time", "sum"), totals.get(("decode_time", "value")))
    if request is not None or decode is not None:
        return request, decode, None
    prefill = totals.get(("batch_prefill_time", "sum"), totals.get(("batch_prefill_time", "value")))
    decode = totals.get(("batch_decode_time", "sum"), totals.get(("batch_decode_time", "value")))
    if prefill is None and decode is None:
        return None, None, None
    return prefill, decode, "engine batch time, not summed request time"


def _share(connection: duckdb.DuckDBPyConnection, prefill: float | None, decode: float | None) -> float | None:
    """Prefill / (prefill + decode); None when a page that was cut ends the window of one of them earlier."""
    if prefill is None or decode is None or connection.sql(_UNEVEN.read_text()).fetchall():
        return None
    return _ratio(prefill, prefill + decode)


def _finished(connection: duckdb.DuckDBPyConnection, totals: Totals) -> dict[str, Any]:
    reasons = _by_key(connection, "finished_requests")
    return {"requests": _count(totals.get(("finished_requests", "value"))), "finish": reasons}


def _steps(connection: duckdb.DuckDBPyConnection, totals: Totals) -> dict[str, Any]:
    """Observations of the iteration histogram: engine steps only where its booking allows (see the defects)."""
    steps = totals.get(("iteration_tokens", "count"), totals.get(("engine_steps", "value")))
    tokens = totals.get(("iteration_tokens", "sum"))
    split = _value(connection, "select count(*) from target_defects where defect = 'vllm-steps-per-frontend'")
    return {
        "steps": _count(steps),
        "step_tokens": _count(tokens),
        "tokens_per_step": _ratio(tokens, steps),
        **({"steps_reliable": False} if split else {}),
    }


def _cache(totals: Totals, prefix: str) -> dict[str, Any] | None:
    queries = totals.get((f"{prefix}prefix_cache_queries", "value"))
    hits = totals.get((f"{prefix}prefix_cache_hits", "value"))
    if queries is None or hits is None:
        return None
    return {"queries": _count(queries), "hits": _count(hits), "hit_rate": _ratio(hits, queries)}


def _more(connection: duckdb.DuckDBPyConnection, totals: Totals) -> dict[str, Any]:
    """What only some engines export, or only some studies hold; a key is there when its figure is."""
    gauges = _gauges(connection)
    in_flight = {
        name: _count(gauges.get(f"{name}_requests")) for name in ("running", "waiting") if f"{name}_requests" in gauges
    }
    found = {
        "phase_count": _count(totals.get(("prefill_time", "count"))),
        "ttft_s": totals.get(("ttft", "sum")),
        "ttft_count": _count(totals.get(("ttft", "count"))),
        "e2e_s": totals.get(("e2e_time", "sum")),
        "gen_tokens_finished": _count(totals.get(("request_generation_tokens", "sum"))),
        "cached_tokens": _count(totals.get(("prompt_tokens_cached", "value"))),
        "succeeded": _count(totals.get(("succeeded_requests", "value"))),
        "failed": _count(totals.get(("failed_requests", "value"))),
        "prompt_tokens_by_source": _by_key(connection, "prompt_tokens_by_source"),
        "external_prefix_cache": _cache(totals, "external_"),
        "token_pool": _count(gauges.get("pool_tokens")),
        "used_tokens": _count(gauges.get("used_tokens")),
        "in_flight": in_flight or None,
        "samples": _value(connection, "select nullif(count(distinct scraped_at_s), 1) from pages "
                          "where file in (select file from pages group by file having count(*) > 1)") or None,
        "instances": _value(connection, "select nullif(count(distinct target), 0) from pages where target like '%@%'"),
        "by_model": _parts(connection, "model"),
        "per_boot": _lives(connection),
        "as_exported": _as_exported(connection),
    }  # fmt: skip
    return {key: value for key, value in found.items() if value is not None}


def _by_key(connection: duckdb.DuckDBPyConnection, concept: str) -> dict[str, int | float] | None:
    rows = connection.sql(
        "select key, sum(total)::double from concept_totals "
        "where concept = $concept and key is not null group by key order by key",
        params={"concept": concept},
    ).fetchall()
    return {key: _count(total) for key, total in rows} or None  # type: ignore[misc]


def _gauges(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Each gauge on the last page of its target: requests and tokens in use summed, the pool if it is one."""
    rows = connection.sql(
        "select concept, case when concept <> 'pool_tokens' then sum(value) "
        "when count(distinct value) = 1 then min(value) end::double "
        "from concept_gauges where key is null "
        "and page in (select max_by(page, position) from page_order group by target) group by concept"
    ).fetchall()
    return dict(rows)


def _parts(connection: duckdb.DuckDBPyConnection, column: str) -> dict[str, Any] | None:
    """Prefill, decode and requests by model, when there are several."""
    rows = connection.sql(f"select {column}, {_PHASE_COLUMNS} from concept_totals group by {column} order by {column}")
    parts = {name: _phase_row(row) for name, *row in rows.fetchall() if name is not None}
    return parts if len(parts) > 1 else None


def _lives(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]] | None:
    """Prefill, decode and requests of each process in turn, when one replaced another."""
    if not _value(connection, "select count(*) from page_order where is_restarted"):
        return None
    rows = connection.sql(
        f"select {_PHASE_COLUMNS} from concept_totals group by target, life order by target, life"
    ).fetchall()
    return [_phase_row(row) for row in rows]


_PHASE_COLUMNS = (
    "sum(total) filter (where concept = 'prefill_time' and statistic in ('sum', 'value'))::double, "
    "sum(total) filter (where concept = 'decode_time' and statistic in ('sum', 'value'))::double, "
    "sum(total) filter (where concept = 'finished_requests')::double"
)


def _phase_row(row: Any) -> dict[str, Any]:
    prefill, decode, requests = row
    return {"prefill_s": prefill, "decode_s": decode, "requests": _count(requests)}


def _as_exported(connection: duckdb.DuckDBPyConnection) -> dict[str, Any] | None:
    """The phases under the names the engine gave them, when those were wrong."""
    if not _value(connection, "select count(*) from target_defects where swaps"):
        return None
    prefill, decode = (
        _value(
            connection,
            "select sum(increase)::double from series_steps join concept_series using (series) "
            "where concept = $concept and statistic = 'sum'",
            concept=concept,
        )
        for concept in ("prefill_time", "decode_time")
    )
    return {"prefill_s": prefill, "decode_s": decode}


def _notes(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The known defects found, each once, with how they were found and what was done."""
    rows = connection.sql(
        "select distinct defect || ' (' || action || ', ' || detected_by || '): ' || detail "
        "from target_defects order by 1"
    ).fetchall()
    return [note for (note,) in rows]


def _value(connection: duckdb.DuckDBPyConnection, query: str, **parameters: Any) -> Any:
    return connection.sql(query, params=parameters or None).fetchall()[0][0]


def _ratio(part: float | None, whole: float | None) -> float | None:
    """To six decimals, as the cases print them."""
    return None if part is None or not whole else round(part / whole, 6)


def _count(number: float | None) -> int | float | None:
    return int(number) if number is not None and number.is_integer() else number
