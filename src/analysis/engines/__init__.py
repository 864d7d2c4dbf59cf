"""What each engine calls things: tables by engine, read from the TOML files beside this module. Data, not code."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

ENGINES = ("vllm", "sglang", "llamacpp", "tgi", "trtllm", "lmdeploy")
"""The folders of this package, one an engine."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How one engine exports one concept (a row of metrics.toml).

    `rank`: of the names with different ranks present together only the lowest counts (a renamed metric); names of one
    rank are parts that are added. `of` takes one statistic of a histogram as a plain total. `key` is the label whose
    value is kept apart (`key_value` where it is fixed), `where` the labels a series must have. `combine` says what the
    value of several engines is, for a gauge: sum, max or mean.
    """

    concept: str
    name: str
    type: str
    unit: str
    definition: str = ""
    scale: float = 1.0
    rank: int = 1
    of: str | None = None
    key: str | None = None
    key_value: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    combine: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Defect:
    """A known defect of an engine's telemetry (a row of defects.toml); versions from `since` to before `until`.

    `invariant` names the query of store/defects that finds it on the pages themselves; `version_decides` says that a
    known version is enough. `concepts` are those it spoils.
    """

    id: str
    engine: str
    action: str
    what: str
    source: str
    since: str | None = None
    until: str | None = None
    invariant: str | None = None
    version_decides: bool = True
    concepts: tuple[str, ...] = ()
    swaps: bool = False


@cache
def table(engine: str, name: str) -> dict[str, Any]:
    """The TOML file `name` of an engine; an empty table when it has none."""
    file = resources.files(__name__) / engine / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def label(engine: str) -> str:
    """The engine's name as results print it (llamacpp is llama.cpp)."""
    return str(table(engine, "metrics")["engine"])


def metrics(engine: str) -> list[Metric]:
    """The metric names of an engine, as exported by itself."""
    return [
        Metric(**{**row, "where": tuple(sorted(row.get("where", {}).items()))})
        for row in table(engine, "metrics").get("metric", [])
    ]


PARTS = {
    "histogram": {"_sum": "sum", "_count": "count", "_bucket": "bucket"},
    "counter": {"_total": "value", "": "value"},
    "gauge": {"": "value"},
    "info": {"": "value"},
}
"""What is appended to a metric's name in its samples, and which statistic the sample is."""


def samples(engine: str, metric: Metric) -> dict[str, str]:
    """The sample names under which an engine exports a metric, each with its statistic."""
    prefix = table(engine, "metrics")["prefixes"][0]
    parts = {f"_{metric.of}": "value"} if metric.of else PARTS[metric.type]
    return {f"{prefix}{metric.name}{part}": statistic for part, statistic in parts.items()}


def defects(engine: str) -> list[Defect]:
    """The known defects of an engine's metric pages."""
    rows = table(engine, "defects").get("defect", [])
    return [Defect(engine=label(engine), **{**row, "concepts": tuple(row.get("concepts", ()))}) for row in rows]


@cache
def _prefixes() -> tuple[tuple[str, str], ...]:
    pairs = [(p, table(e, "metrics")["prefixes"][0]) for e in ENGINES for p in table(e, "metrics")["prefixes"]]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=1 << 14)
def canonical_name(name: str) -> str:
    """A metric's name as its engine exports it: undoes the prefixes of Ray and the underscores of gateways."""
    bare = name.removeprefix("ray_")
    for written, canonical in _prefixes():
        if bare.startswith(written):
            return canonical + bare[len(written) :]
    return name


def version_key(version: str | None) -> list[int] | None:
    """A version as numbers that compare in order (0.6.4.post1 as 0.6.4, b7010 as 7010); None when there are none."""
    found = re.search(r"\d{1,9}(?:\.\d{1,9})*", version or "", re.A)
    return [int(part) for part in found[0].split(".")] if found else None
