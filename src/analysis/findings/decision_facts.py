"""The facts that a decision rests on and a later study measures anew: engine, model, lengths, mix, users, machine."""

import json
from dataclasses import dataclass

import duckdb
import numpy as np

from analysis.estimates.estimate import Evidence
from analysis.estimates.rounding import show_number
from analysis.redact import redact

Value = str | float


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its distinct values in this study (none: `missing` says what is not there), and where they came from.

    `reading` is what a record's draft says of it; `spread` is how far a share may move before the mix is another one.
    """

    name: str
    reading: str
    values: tuple[Value, ...]
    missing: str = ""
    rule: str = "not_in"
    evidence: tuple[Evidence, ...] = ()


SPREAD = 0.1
"""Share points: the draft's own choice of when a traffic mix is another one."""
BOOTS = (
    ("engine", "another engine", "engine"),
    ("engine_version", "another version of the engine", "engine_version"),
    ("model", "another model", "model"),
    ("max_model_len_tokens", "another maximum length", "max_model_len_tokens"),
    ("kv_dtype", "another type of the cache", "kv_dtype"),
)
"""Facts that boot logs state: name, what its change is, column of boots."""
DECLARED = (
    ("driver", "another driver", "hardware.driver"),
    ("device", "another device", "hardware.device"),
    ("cpu", "another CPU", "hardware.cpu"),
    ("objective", "another objective", "objective.what"),
)
"""Facts that only study.toml states: name, what its change is, key."""
LENGTHS = """
    select max(prompt_tokens)::double, max(output_tokens)::double, min(file) from request_metrics
    where is_counted and is_completed
"""
MIX = "select class, count(*)::double, min(file) from class_requests where is_completed group by class order by class"
SPANS = "select place, sent_s, end_s, file from request_spans where is_placed order by place, sent_s, end_s"


def facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Fact]:
    """Every fact by its name; those that this study does not hold have no values."""
    found = [*_of_boots(connection), *_declared(connection), *_lengths(connection), _at_once(connection)]
    return {fact.name: fact for fact in [*found, *_mix(connection)]}


def _of_boots(connection: duckdb.DuckDBPyConnection) -> list[Fact]:
    found = []
    for name, reading, column in BOOTS:
        query = f"""
            select {column}, min(file), min(first_line) from boots where {column} is not null group by all order by 1
        """  # a column of our own table
        rows = connection.sql(query).fetchall()
        values = tuple(v if isinstance(v, str) else float(v) for v, _, _ in rows)
        lines = tuple(Evidence(file, line=line) for _, file, line in rows[:12])
        found.append(Fact(name, reading, values, "no boot log states it", evidence=lines))
    return found


def _declared(connection: duckdb.DuckDBPyConnection) -> list[Fact]:
    query = "select distinct value, file, line from study_facts where key = $key and value is not null order by all"
    found = []
    for name, reading, key in DECLARED:
        rows = connection.sql(query, params={"key": key}).fetchall()
        values = tuple(dict.fromkeys(str(json.loads(value)) for value, _, _ in rows))
        lines = tuple(Evidence(file, line=line) for _, file, line in rows[:12])
        found.append(Fact(name, reading, values, f"study.toml does not say {key}", evidence=lines))
    return found


def _lengths(connection: duckdb.DuckDBPyConnection) -> list[Fact]:
    prompt, output, file = connection.sql(LENGTHS).fetchall()[0]
    lines = (Evidence(file),) if file else ()
    missing = "no completed request says its tokens"
    return [
        Fact("longest_prompt_tokens", "longer prompts", () if prompt is None else (prompt,), missing, "above", lines),
        Fact("longest_output_tokens", "longer outputs", () if output is None else (output,), missing, "above", lines),
    ]


def _at_once(connection: duckdb.DuckDBPyConnection) -> Fact:
    """The most requests in service at once at one place, by clients' clocks: how many users there are."""
    most, file = 0, None
    rows = connection.sql(SPANS).fetchall()
    for place in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == place]
        start, end = (np.sort([row[i] for row in mine]) for i in (1, 2))
        # A request that ends as another begins is not beside it.
        beside = np.arange(1, len(start) + 1) - np.searchsorted(end, start, side="right")
        if int(beside.max()) > most:
            most, file = int(beside.max()), mine[0][3]
    missing = "no request trace with times on the wall clock"
    return Fact(
        "requests_at_once", "more users at once", (float(most),) if most else (), missing, "above",
        (Evidence(file),) if file else (),
    )  # fmt: skip


def _mix(connection: duckdb.DuckDBPyConnection) -> list[Fact]:
    rows = connection.sql(MIX).fetchall()
    total = sum(count for _, count, _ in rows)
    found = [
        Fact(
            f"class_share.{name}",
            f"another share of {name} requests",
            (count / total,),
            "",
            "outside",
            (Evidence(file),),
        )
        for name, count, file in rows
    ]
    classes = tuple(name for name, _, _ in rows)
    return [*found, Fact("classes", "another class of traffic", classes, "no request says its class")]


def shown(value: Value) -> str:
    """A value as text, fit to be shown: whole numbers whole, others with three digits."""
    return redact(value).text if isinstance(value, str) else show_number(value, "", plain=True)
