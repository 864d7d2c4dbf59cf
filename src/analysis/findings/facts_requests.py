"""What the load generators saw: the sections `requests` and `reconcile` of the facts (forms: tests/cases/README.md).

A figure is recomputed from the requests where the file has them. Where it has none, the tool's own figure is given and
its key is listed in `as_stated` (but a mean over no request is none, whatever the tool writes); a count of which the
tool says nothing is listed in `not_stated`.
"""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

STATED = Path(__file__).with_name("stated_figures.toml")
MILLISECONDS = ("mean_ttft", "mean_tpot", "mean_itl", "mean_e2e", "median_ttft", "median_tpot", "median_e2e")
NEEDED = ("mean_ttft_ms", "mean_tpot_ms", "mean_itl_ms", "request_throughput", "output_throughput")
RATE_KEYS = ("request_rate", "Request rate configured (RPS)", "Traffic request rate")
GAPS_IN_SUMMARY = ("llmperf-individual",)  # its reader leaves there what its requests say and no column of ours holds
TEST_PROMPT = "test prompt of vllm bench serve"
SERVER = """
    select regexp_extract(target, '[^/]*$') as folder, concept, sum(total)::double as total from concept_totals
    where concept in ('finished_requests', 'prompt_tokens', 'generation_tokens') and statistic = 'value'
    group by all
"""
WARM_UP = """
    select regexp_extract(file, '([^/]*)/[^/]*$', 1) as folder,
        count(*) as requests, sum(prompt_tokens) as prompt, sum(output_tokens) as output
    from request_metrics where is_warmup and is_completed and not is_duplicate group by all
"""

Facts = dict[str, Any]


def facts(connection: duckdb.DuckDBPyConnection) -> Facts:
    """The keys `requests` and `reconcile`; each is absent when the study has nothing to say about it."""
    rows = _rows(connection, "select * from distinct_runs order by file, ordinal")
    if not rows:
        return {}
    runs = [_run(row) for row in rows]
    files = len({row["file"] for row in rows})
    formats = {run["format"] for run in runs}
    several = {"format": formats.pop() if len(formats) == 1 else "several", "files": files, "runs": runs}
    reconciled = reconcile(connection, runs)
    return {"requests": runs[0] if len(runs) == 1 else several} | ({"reconcile": reconciled} if reconciled else {})


def _run(row: Facts) -> Facts:
    """One run in the form of the cases."""
    figures = _recomputed(row)
    counts, missing = _counts(row)
    stated = _usable(row, counts["completed"])
    taken = sorted(key for key, value in stated.items() if figures.get(key) is None and value is not None)
    figures |= {key: stated[key] for key in taken}
    duration = row["duration_s"]
    if duration and row["counted"] and row["stated_completed"] is None:
        tokens = row["output_tokens"]
        figures["request_throughput"] = row["completed"] / duration
        figures["output_throughput"] = int(tokens) / duration if tokens is not None else None
        taken = [key for key in taken if key not in ("request_throughput", "output_throughput")]
    optional = {
        "warmup_excluded": row["warmup_excluded"] or None,
        "duplicates_dropped": row["duplicates_dropped"] or None,
        "itl_is_per_chunk": row["itl_is_per_chunk"],
        "finish": row["finish"],
        "concurrency": row["concurrency"],
        "request_rate": _rate(row),
        "mean_chunk_gap_ms": _ms(row["mean_gap_s"]),
        "also_in": row["also_in"] or None,
        "as_stated": taken or None,
        "not_stated": missing or None,
    }
    needed = {key: figures.get(key) for key in ("input_tokens", "output_tokens", *NEEDED)}
    return {
        "format": row["format"], "file": row["file"], "files": 1, **counts, "duration_s": duration,
        **needed, **{k: v for k, v in figures.items() if v is not None},
        "ttft_count": row["ttft_count"] if row["counted"] else counts["completed"],
        **{k: v for k, v in optional.items() if v is not None},
    }  # fmt: skip


def _usable(row: Facts, completed: int | None) -> Facts:
    """The tool's own figures that stand in for ours: of a run without all its requests, and means only over some."""
    whole = row["counted"] is not None and row["stated_completed"] is None
    if whole and row["format"] not in GAPS_IN_SUMMARY:
        return {}
    return {key: value for key, value in _stated(row).items() if completed != 0 or not key.endswith("_ms")}


def _recomputed(row: Facts) -> Facts:
    """Means and sums over completed requests; sums of a thinned list of requests are not sums of the run."""
    figures: Facts = {f"{name}_ms": _ms(row[f"{name}_s"]) for name in MILLISECONDS}
    if row["stated_completed"] is None:
        figures["input_tokens"] = _whole(row["prompt_tokens"])
        figures["output_tokens"] = _whole(row["output_tokens"])
    return figures


def _counts(row: Facts) -> tuple[Facts, list[str]]:
    """Completed, failed and incomplete requests of which the file knows, and those it says nothing of."""
    if row["counted"] is not None and row["stated_completed"] is None:
        return {key: row[key] for key in ("completed", "failed", "incomplete")}, []
    stated = {key: row[f"stated_{key}"] for key in ("completed", "failed", "incomplete")}
    produced = _stated(row).get("output_tokens")
    if produced == 0 and stated["completed"]:  # an engine that died: answers without a single token are failures
        stated["failed"], stated["completed"] = (stated["failed"] or 0) + stated["completed"], 0
    missing = [key for key, value in stated.items() if value is None]
    return {
        "completed": stated["completed"],
        "failed": stated["failed"] or 0,
        "incomplete": stated["incomplete"] or 0,
    }, missing


@cache
def _paths() -> dict[str, dict[str, list[list[Any]]]]:
    return tomllib.loads(STATED.read_text(encoding="utf-8"))


def _stated(row: Facts) -> Facts:
    """The tool's own figures under our names, in our units."""
    summary = json.loads(row["tool_summary"] or "{}")
    figures: Facts = {}
    for key, choices in _paths().get(row["format"], {}).items():
        values = [(_at(summary, path), factor) for path, factor in choices]
        figures[key] = next((v * factor for v, factor in values if _is_number(v) and v >= 0), None)
        if key.endswith("_tokens") and figures[key] is not None:
            figures[key] = _whole(figures[key])
    return figures


def _at(value: Any, path: str) -> Any:
    for part in path.split("/") if isinstance(value, dict) and path not in value else (path,):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _rate(row: Facts) -> float | str | None:
    summary = json.loads(row["tool_summary"] or "{}")
    unlimited = any(str(summary.get(key)) == "inf" for key in RATE_KEYS)
    return "inf" if unlimited else row["request_rate"]


def reconcile(connection: duckdb.DuckDBPyConnection, runs: list[Facts]) -> Facts | None:
    """Server counts beside client counts; None where either side is missing.

    Where pages and results lie in folders of one name (metrics/A1, requests/A1), only these are compared, and
    `by_folder` has each; else all pages with all results. Client: requests that returned output, warm-up among them,
    for the server saw those too. `vllm bench serve` may send one prompt before its run that is in no result, which
    explains just one extra request a run.
    """
    if not connection.sql("select 1 from duckdb_columns() where table_name = 'concept_totals'").fetchall():
        return None
    server, warm_up = _rows(connection, SERVER), _rows(connection, WARM_UP)
    if not server or any(run["completed"] is None for run in runs):
        return None
    common = {row["folder"] for row in server} & {_folder(run) for run in runs}
    folders = {name: _side_by_side(server, runs, warm_up, {name}) for name in sorted(common)}
    everything = {row["folder"] for row in (*server, *warm_up)} | {_folder(run) for run in runs}
    total = _side_by_side(server, runs, warm_up, common or everything)
    return total | ({"by_folder": folders} if len(folders) > 1 else {})


def _folder(run: Facts) -> str:
    return Path(run["file"]).parent.name


def _side_by_side(server: list[Facts], runs: list[Facts], warm_up: list[Facts], folders: set[str]) -> Facts:
    runs = [run for run in runs if _folder(run) in folders]
    warm = [row for row in warm_up if row["folder"] in folders]
    totals: dict[str, float] = {}
    for row in server:
        if row["folder"] in folders:
            totals[row["concept"]] = totals.get(row["concept"], 0) + row["total"]
    client = sum(run["completed"] for run in runs) + sum(row["requests"] for row in warm)
    served = _whole(totals.get("finished_requests"))
    extra = None if served is None else served - client
    benches = sum(run["format"].startswith("vllm-bench") for run in runs)
    return {
        "server_requests": served, "client_requests": client, "extra_on_server": extra,
        "explained_by": TEST_PROMPT if extra and extra == benches else None,
        "server_prompt_tokens": _whole(totals.get("prompt_tokens")),
        "client_input_tokens": _sum([*(run["input_tokens"] for run in runs), *(row["prompt"] for row in warm)]),
        "server_generation_tokens": _whole(totals.get("generation_tokens")),
        "client_output_tokens": _sum([*(run["output_tokens"] for run in runs), *(row["output"] for row in warm)]),
    }  # fmt: skip


def _sum(values: list[Any]) -> int | None:
    return None if any(value is None for value in values) else int(sum(values))


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def _whole(value: Any) -> int | float | None:
    return value if value is None or value != int(value) else int(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Facts]:
    relation = connection.sql(query)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
