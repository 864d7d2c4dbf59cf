"""The configuration of each boot, knob by knob, and in which knobs two arms differ.

A knob is what somebody sets: an argument or an environment variable, and the build and the model that run. What the
engine makes of them (its resolved configuration) counts only where no knob explains the difference.
"""

import json
import re
import shlex
from dataclasses import dataclass
from functools import cached_property

import duckdb
import polars as pl

from analysis.findings.frames import rows
from analysis.redact import names_secret, pair
from analysis.secret_keys import ANY_KEY

IGNORED = frozenset({
    "host", "port", "model", "model_tag", "model_path", "served_model_name", "uvicorn_log_level", "root_path",
    "tokenizer", "api_key", "hf_token", "ssl_keyfile", "ssl_certfile", "ssl_keyfile_password", "ssl_ca_certs",
    "allowed_origins",
})  # fmt: skip
"""Where a server listens, who may call it and what it is called is no setting of the engine; the model has its row."""
SCHEMA = dict.fromkeys(("boot", "knob", "value", "kind"), pl.String)
NOT_SET = "not set"
LIMITS = ("max_model_len_tokens", "max_num_batched_tokens")
ALIASES = {"max_seq_len": "max_model_len"}
"""The engine's own name of a knob in its resolved configuration."""


@dataclass(frozen=True)
class Knobs:
    """`table` has one row a boot and knob: boot, knob, value, kind (build, argument, environment, resolved)."""

    table: pl.DataFrame

    @cached_property
    def of_boot(self) -> dict[str, list[tuple[str, str, str]]]:
        """(knob, value, kind) of each boot."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        for boot, *row in self.table.select(*SCHEMA).iter_rows():
            found.setdefault(boot, []).append(tuple(row))
        return found

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each knob; the first in the alphabet where boots differ in it."""
        return dict(self.table.select("knob", "kind").sort("knob", "kind", descending=True).iter_rows())


def knobs(connection: duckdb.DuckDBPyConnection) -> Knobs:
    """The knobs of a study's boots."""
    facts = rows(
        connection,
        "select boot, fact, text from boot_facts where text is not null and regexp_matches(fact, '^(arg|config)\\.')",
    )
    said = {"arg": dict[str, dict[str, str]](), "config": dict[str, dict[str, str]]()}
    for boot, fact, text in facts.sort("boot", "fact", "text").iter_rows():
        source, _, name = fact.partition(".")
        said[source].setdefault(boot, {})[ALIASES.get(name, name)] = _plain(text)
    for boot, args in _declared(connection).items():
        said["arg"].setdefault(boot, args)  # the log is the source; what was declared stands in where it is silent
    found: list[tuple[str, str, str, str]] = [(*row, "environment") for row in _environment(connection)]
    for row in rows(connection, "select * from arm_boots order by boot").iter_rows(named=True):
        boot = row["boot"]
        args, resolved = said["arg"].get(boot, {}), said["config"].get(boot, {})
        build = {"engine": " ".join(filter(None, (row["engine"], row["engine_version"]))), "model": row["model"]}
        limits = {c.removesuffix("_tokens") if c == "max_model_len_tokens" else c: row[c] for c in LIMITS}
        resolved |= {name: str(value) for name, value in limits.items() if value is not None}
        resolved |= {"kv_budget": row["kv_budget_source"]} if row["kv_budget_source"] else {}
        found += [(boot, name, value, "build") for name, value in build.items() if value]
        found += [(boot, name, value, "argument") for name, value in args.items() if not _unused(name)]
        found += [(boot, name, v, "resolved") for name, v in resolved.items() if not _unused(name) and _simple(v)]
    return recounted(pl.DataFrame(found, schema=SCHEMA, orient="row"))


def recounted(found: pl.DataFrame) -> Knobs:
    """The knobs of a table with what the engine resolved in place of an argument of the same name, in every boot.

    A boot that leaves an argument to its default and one that sets it to just that do not differ.
    """
    set_by_somebody = found.filter(pl.col("kind") == "argument")["knob"].unique()
    resolved = found.filter(pl.col("kind") == "resolved", pl.col("knob").is_in(set_by_somebody.implode()))
    kept = found.join(resolved, on=["boot", "knob"], how="anti")
    return Knobs(
        pl.concat([kept, resolved.with_columns(kind=pl.lit("argument"))]).unique().sort("boot", "knob", "value")
    )


def by_arm(found: Knobs, boots: list[str]) -> dict[str, str]:
    """What an arm's boots have for each knob, as it may be shown; several values where they differ, sorted."""
    return {knob: " | ".join(_shown(knob, v) for v in values) for knob, values in _values(found, boots).items()}


def differing(found: Knobs, first: list[str], second: list[str]) -> list[str]:
    """The knobs in which two arms differ; what the engine resolved only where no knob explains it.

    Empty where the configuration of one of them is not known.
    """
    a, b = _values(found, first), _values(found, second)
    known = is_known(found, first) and is_known(found, second)
    changed = [knob for knob in sorted(a.keys() | b.keys()) if a.get(knob) != b.get(knob)] if known else []
    return [knob for knob in changed if found.kinds[knob] != "resolved"] or changed


def within(found: Knobs, boots: list[str]) -> list[str]:
    """The knobs in which the boots of one arm differ."""
    return [knob for knob, values in _values(found, boots).items() if len(values) > 1]


def is_known(found: Knobs, boots: list[str]) -> bool:
    """Whether anything is known of how these boots were set, beyond what ran."""
    return any(kind != "build" for boot in boots for _, _, kind in found.of_boot.get(boot, ()))


def _shown(knob: str, value: str) -> str:
    return value if value == NOT_SET else pair(knob, value).text  # a name such as HOSTNAME says what its value is


def _values(found: Knobs, boots: list[str]) -> dict[str, list[str]]:
    """The values of each knob in these boots, sorted; a boot without a knob that others set has it not set."""
    known = [boot for boot in boots if boot in found.of_boot]
    having: dict[str, set[str]] = {}
    values: dict[str, set[str]] = {}
    set_by_somebody: set[str] = set()
    for boot in known:
        for knob, value, kind in found.of_boot[boot]:
            having.setdefault(knob, set()).add(boot)
            values.setdefault(knob, set()).add(value)
            if kind != "resolved":
                set_by_somebody.add(knob)
    missing = {knob for knob in set_by_somebody if len(having[knob]) < len(known)}
    return {knob: sorted(values[knob]) + [NOT_SET] * (knob in missing) for knob in values}


def _declared(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    lines = connection.sql("select boot, args from declared where args is not null order by boot").fetchall()
    return {boot: arguments(args) for boot, args in lines}


def arguments(line: str) -> dict[str, str]:
    """The options of a command line by name: `--max-model-len 8192`, `--flag`, `--name=value`, `-c 1`."""
    try:
        words = shlex.split(line)
    except ValueError:  # an unbalanced quote
        words = line.split()
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if re.match(r"--?[A-Za-z]", word):
            name, _, value = word.lstrip("-").partition("=")
            name = name.replace("-", "_")
            found[name] = _plain(value) if value else "True"
        elif name:
            found[name] = _plain(word) if found[name] == "True" else f"{found[name]} {word}"
    return found


def _environment(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    """Environment variables that a description declares for a boot."""
    query = """
        select distinct
            trim(both '"' from ids.value) as boot, regexp_extract(facts.key, '\\.env\\.(.+)$', 1) as name, facts.value
        from study_facts as facts
        join study_facts as ids
            on ids.file = facts.file and ids.key = regexp_extract(facts.key, '^boots\\[\\d+\\]') || '.id'
        where regexp_matches(facts.key, '^boots\\[\\d+\\]\\.env\\..') order by all
    """
    lines = connection.sql(query).fetchall()
    return [(boot, name, _plain(str(json.loads(v)))) for boot, name, v in lines if not _is_secret(name)]


def _plain(text: str) -> str:
    return text.strip().removeprefix("torch.")


def _unused(name: str) -> bool:
    return name in IGNORED or _is_secret(name)


def _is_secret(name: str) -> bool:
    """Whether it may hold a key of any kind: no setting, and its value is nobody's business."""
    return names_secret(name) or ANY_KEY.search(name) is not None


def _simple(value: str) -> bool:
    """Whether a resolved setting is one value: structures repeat what arguments say, in words of a version."""
    return not re.search(r"[({\[<]", value)
