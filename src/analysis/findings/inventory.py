"""What was found: files, boots and their outcomes, and what was not understood."""

from pathlib import Path

import duckdb
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence
from analysis.findings import integrity
from analysis.findings.frames import rows
from analysis.redact import cut, redact

FINDING = "10-inventory"
OUTCOMES = ("served", "refused", "crashed", "unknown")
KINDS = {"boot_log": "boot logs", "metrics": "metric pages", "requests": "requests", "host": "host counters",
         "config": "study settings", "other": "other files"}  # fmt: skip
"""What a reader calls each kind of file."""
CONTRADICTIONS = Path(__file__).with_name("contradictions.sql")


def outcome_counts(connection: duckdb.DuckDBPyConnection) -> list[Estimate]:
    """boots.outcome_count of each outcome: counted, exact; with the log line that shows the outcome of each boot."""
    boots = rows(
        connection, "select boot, file, outcome, outcome_line, first_line from boot_arms order by ordinal_in_study"
    )
    found = []
    for outcome in OUTCOMES:
        of_outcome = boots.filter(pl.col("outcome") == outcome)
        evidence = [
            Evidence(file, line=line or first, window=boot)
            for boot, file, line, first in of_outcome.select("boot", "file", "outcome_line", "first_line").iter_rows()
        ]
        found.append(
            Estimate(
                of_outcome.height, "1", "census", "boot logs counted by outcome", n=boots.height, n_of="boots",
                reason="census: every boot log was read", evidence=tuple(evidence),
            ).named("boots.outcome_count", FINDING, outcome=outcome)
        )  # fmt: skip
    return found


def files(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a kind and status of file: how many there are."""
    table = rows(
        connection, "select kind, status, count(*)::bigint as n from files group by kind, status order by kind, status"
    )
    return table.with_columns(pl.col("kind").replace(KINDS))


def not_read(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a file that was not read, or not whole: what became of it and what to do."""
    return rows(
        connection, "select file, status, message as why from files where status <> 'read' order by status desc, file"
    )


def scrapes(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a target (what was scraped): boot, pages, where their times come from, span, restarts seen."""
    return rows(
        connection,
        """
        select
            page_order.target, string_agg(distinct boot_pages.boot, ', ' order by boot_pages.boot) as boot,
            count(*)::bigint as pages,
            string_agg(distinct coalesce(page_order.scraped_at_source, 'none'), ', ') as "times from",
            strftime(make_timestamp((min(page_order.scraped_at_s) * 1e6)::bigint), '%Y-%m-%d %H:%M') as "first (UTC)",
            (max(page_order.scraped_at_s) - min(page_order.scraped_at_s)) / 60 as "span (min)",
            sum(page_order.resets)::bigint as restarts
        from page_order join boot_pages using (page)
        group by page_order.target order by min(page_order.page)
        """,
    )


def unparsed(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a line that looks like a known one and does not parse."""
    table = rows(connection, "select file, line, what, text from unparsed order by file, line")
    return table.with_columns(pl.Series("text", [cut(redact(text).text, 160) for text in table["text"]], pl.String))


def configurations(connection: duckdb.DuckDBPyConnection) -> tuple[pl.DataFrame, str]:
    """One row a boot: arm, outcome, and what its log says of limits, memory, engine and model; and the caption.

    Null: the log does not say. What is the same in all boots is in the caption instead.
    """
    table = rows(
        connection,
        """
        select
            boot, arm, outcome, max_model_len_tokens as "max_model_len (tokens)",
            max_num_batched_tokens as "max_num_batched_tokens",
            available_kv_gib_min as "KV memory (GiB)", token_pool_total_tokens as "pool (tokens)",
            kv_budget_source as "KV memory set by", compile_state as compile,
            engine || coalesce(' ' || engine_version, '') as engine, model
        from boot_arms order by ordinal_in_study
        """,
    )
    same = [c for c in ("compile", "engine", "model") if table.height > 1 and table[c].n_unique() == 1]
    said = ", ".join(f"{c} {table[c][0] or 'not stated'}" for c in same)
    return table.drop(same), "Configuration; one row a boot" + (f". The same in all: {said}" if said else "")


def outcomes_by_arm(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row an arm and outcome: how many boots."""
    return rows(
        connection,
        "select arm, outcome, count(*)::bigint as n from boot_arms group by arm, outcome order by arm, outcome",
    )


def defects(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a known defect of an engine that touched this study, in how many places, and what was done about it."""
    return rows(
        connection,
        """
        select defect, versions, detected_by as "found by", action, count(*)::bigint as places, min(detail) as example
        from defects group by defect, versions, detected_by, action order by defect, detected_by
        """,
    )


def broken(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a contradiction found in the pages: which check, where, and what it is."""
    return integrity.violations(connection).select("run", "scope", pl.col("means").alias("what it is"), "detail")


def contradiction(connection: duckdb.DuckDBPyConnection) -> str:
    """What the checks of the pages found, in one sentence; empty where every page passed."""
    found = integrity.violations(connection)
    if not found.height:
        return ""
    runs = found["run"].drop_nulls().unique().sort().to_list()
    shown = ", ".join(runs[:3]) + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")
    return f"Metric pages contradict themselves in {_several(found.height, 'place')}: {found['means'][0]}." + (
        f" No share of {shown} is published." if runs else ""
    )


def contradictions(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """One row a contradiction between study.toml and the logs, or within one: what, where, declared, found."""
    return rows(connection, CONTRADICTIONS.read_text(encoding="utf-8"))


def sentence(connection: duckdb.DuckDBPyConnection, counts: list[Estimate]) -> str:
    """The answer: what there is, and how much of it was not understood."""
    total, whole, pages, lines = connection.sql(
        """
        select
            (select count(*) from files), (select count(*) from files where status = 'read'),
            (select count(*) from pages), (select count(*) from unparsed)
        """
    ).fetchall()[0]
    boots = ", ".join(f"{e.value:.0f} {e.qualifiers['outcome']}" for e in counts if e.value)
    died = connection.sql("select count(*) from boot_arms where died_after_serving").fetchall()[0][0]
    boots += f"; {died} of them died after serving" if died else ""
    return (
        f"{whole:,} of {total:,} files were read whole: {_several(pages, 'metric page')} and "
        f"{_several(counts[0].n or 0, 'boot')}{f' ({boots})' if boots else ''}. "
        + (
            f"{_several(lines, 'line')} looked familiar but did not parse."
            if lines
            else "No familiar line failed to parse."
        )
    )


def _several(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def describe_files(files: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of files."""
    whole, total = files.filter(pl.col("status") == "read")["n"].sum(), files["n"].sum()
    return {
        "title": f"{whole:,} of {total:,} files were read whole",
        "subtitle": "files by kind and by what became of them; counted, exact",
        "description": "Files by kind and status. "
        + "; ".join(f"{kind}, {status}: {n:,}" for kind, status, n in files.select("kind", "status", "n").iter_rows()),
    }


def describe_outcomes(by_arm: pl.DataFrame) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of outcomes."""
    served, total = by_arm.filter(pl.col("outcome") == "served")["n"].sum(), by_arm["n"].sum()
    return {
        "title": f"{served:,} of {total:,} boots served" if total else "There is no boot log in this study",
        "subtitle": "boots by arm and outcome; counted, exact",
        "description": "Boots by arm and outcome. "
        + ("; ".join(f"{arm}, {outcome}: {n:,}" for arm, outcome, n in by_arm.iter_rows()) or "none"),
    }
