"""From the lines of one boot to its one row: the rules for outcome, ranks, engines, pool and budget.

The rules are written out in docs/formats/boot-logs.md. Which fact states which column is in the engines' tables.
"""

from collections import Counter
from typing import Any

from analysis.engines.boot_lines import load
from analysis.sources.boot_match import Fact, Match
from analysis.sources.boot_split import Boot
from analysis.sources.log_origin import seconds_between
from analysis.sources.reading import Row

GIB = 1 << 30
_TO_GIB = {"GiB": 1.0, "MiB": 1 / 1024, "bytes": 1 / GIB, "GB": 1e9 / GIB}
_OUTCOME_OF = {"ready": "served", "serving": "served", "step": "served", "refusal": "refused", "crash": "crashed"}
_WEIGHT = {"start": 100, "pool": 20, "ready": 10, "refusal": 10}
Place = tuple[int, int, int, str]


def resolve(name: str, ordinal: int, boot: Boot) -> Row:
    """One row of `boots`, without `file`."""
    engine = engine_of(boot)
    lines = _in_earnest([m for m in boot.matches if m.shape.engine in ("", engine)])
    rules = load().resolve.get(engine or "", {})
    row: Row = {
        "boot": name,
        "first_line": boot.first_line,
        "last_line": boot.last_line,
        "ordinal": ordinal,
        "engine": engine,
    }
    row |= _outcome(lines)
    for column in ("engine_version", "model", "kv_dtype"):
        row[column] = _text(lines, rules.get(column, ()))
    for column in ("max_model_len_tokens", "requested_max_model_len_tokens", "max_num_batched_tokens", "api_servers"):
        row[column] = _whole(_first(lines, rules.get(column, ())))
    if row["requested_max_model_len_tokens"] == row["max_model_len_tokens"]:
        row["requested_max_model_len_tokens"] = None
    row["kv_needed_gib"] = _first(lines, ("kv_needed",))
    row["estimated_max_len_tokens"] = _whole(_first(lines, ("estimated_len",)))
    row |= _available(lines, rules)
    row |= _pool(lines, rules, boot.stepped)
    row["kv_budget_source"] = _budget(lines, rules, row)
    row["compile_state"] = _compiled(lines)
    row |= _api_servers(lines, engine, row["api_servers"], boot.speakers)
    return row | _times(lines, row["outcome_line"] if row["outcome"] == "served" else None)


def engine_of(boot: Boot) -> str | None:
    """The engine whose lines these are: start lines count most, because an engine may load another's library."""
    votes: Counter[str] = Counter()
    for match in boot.matches:
        if match.shape.engine:
            votes[match.shape.engine] += _WEIGHT.get(match.shape.purpose, 1)
    return max(sorted(votes), key=votes.__getitem__) if votes else None


def _in_earnest(lines: list[Match]) -> list[Match]:
    """The lines without those of a trial run: said again once it was over."""
    over = max((at for at, match in enumerate(lines) if match.shape.trial), default=0)
    again = {match.shape.id for match in lines[over:]}
    return [match for match in lines[:over] if match.shape.id not in again] + lines[over:]


def _outcome(lines: list[Match]) -> Row:
    """Ready or at work: served. Else refused, else crashed, by the first line that says so. Else unknown.

    A served boot died when a crash follows and nothing had asked it to stop.
    """
    first: dict[str, int] = {}
    for match in lines:
        first.setdefault(_OUTCOME_OF.get(match.shape.purpose, match.shape.purpose), match.number)
    outcome = next((name for name in ("served", "refused", "crashed", "traceback") if name in first), "unknown")
    line = first.get(outcome)
    died: bool | None = None
    if outcome == "served" and line is not None:
        stop = first.get("shutdown", float("inf"))
        died = any(m.shape.purpose == "crash" and line < m.number < stop for m in lines)
    return {
        "outcome": "crashed" if outcome == "traceback" else outcome,
        "outcome_line": line,
        "died_after_serving": died,
    }


def _named(lines: list[Match], name: str) -> list[tuple[Match, Fact]]:
    return [(match, fact) for match in lines for fact in match.facts if fact.name == name]


def _first(lines: list[Match], names: Any) -> float | None:
    """The number that the first of `names` to have one states first."""
    return next((f.value for name in names for _, f in _named(lines, name) if f.value is not None), None)


def _text(lines: list[Match], names: Any) -> str | None:
    return next((f.text for name in names for _, f in _named(lines, name) if f.text and f.text != "None"), None)


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and value == int(value) else None


def _by_engine(lines: list[Match], name: str) -> dict[int, float]:
    """The least value of a fact in each data-parallel engine: ranks of one engine share what the least of them has."""
    least: dict[int, float] = {}
    for match, fact in _named(lines, name):
        engine = match.origin.engine or 0
        if fact.value is not None:
            least[engine] = min(fact.value, least.get(engine, fact.value))
    return least


def _available(lines: list[Match], rules: dict[str, Any]) -> Row:
    """Memory for the cache, by rank in rank order: from the best kind of line that any rank printed."""
    ranks: dict[Place, float] = {}
    for terms in rules.get("available", ()):
        ranks = _per_rank(lines, terms, rules)
        if ranks:
            break
    values = [ranks[place] for place in sorted(ranks)] if rules.get("repeat") != "sum" else list(ranks.values())
    least = min(values, default=None)
    return {
        "available_kv_gib": values,
        "available_kv_gib_min": least,
        "available_kv_bytes": None if least is None else least * GIB,
    }


def _per_rank(lines: list[Match], terms: list[str], rules: dict[str, Any]) -> dict[Place, float]:
    ranks: dict[Place, float] = {}
    for match in lines:
        parts = [
            f.value * _TO_GIB[f.unit]
            for f in match.facts
            if f.name in terms and f.value is not None and f.unit in _TO_GIB
        ]
        if not parts:
            continue
        device = next((f.text or "" for f in match.facts if f.name == "device"), "")
        place = (*match.origin.place[:3], device or match.origin.place[3])
        if rules["repeat"] == "sum":
            ranks[place] = ranks.get(place, 0.0) + sum(parts)
        elif rules["repeat"] == "last" or place not in ranks:
            ranks[place] = round(sum(parts), 9)
    return ranks


def _pool(lines: list[Match], rules: dict[str, Any], stepped: set[int]) -> Row:
    """Tokens one engine can hold, and all together; `stepped` are the engines that log steps."""
    pools: dict[int, float] = {}
    for name in rules.get("pool", ()):
        pools = pools or _by_engine(lines, name)
    blocks = _by_engine(lines, rules.get("blocks", "blocks"))
    block_size = _first(lines, rules.get("block_size_tokens", ("block_size",)))
    if not pools and blocks:
        block_size = block_size or rules.get("default_block_size_tokens")
        pools = {engine: count * block_size for engine, count in blocks.items()} if block_size else {}
    pools = pools or _slots(lines)
    engines = {m.origin.engine for m in lines if m.origin.engine is not None} | stepped
    least = min(pools, key=lambda engine: (pools[engine], engine), default=None)
    concurrency = _by_engine(lines, "max_concurrency")
    most = concurrency.get(least) if least is not None else min(concurrency.values(), default=None)
    complete = len(pools) == max(1, len(engines))
    return {
        "engines": max(1, len(engines)),
        "token_pool_tokens": None if least is None else _whole(pools[least]),
        "token_pool_by_engine": [_whole(pools[engine]) for engine in sorted(pools)],
        "token_pool_total_tokens": _whole(sum(pools.values())) if pools and complete else None,
        "blocks": _whole(min(blocks.values(), default=None)),
        "block_size_tokens": _whole(block_size),
        "max_concurrency": most,
        **_consistency(None if least is None else pools[least], most, _first(lines, ("concurrency_len",))),
    }


def _slots(lines: list[Match]) -> dict[int, float]:
    """llama.cpp without its context lines: the slots' contexts, one after another, or one they share."""
    slots, length = _first(lines, ("n_slots",)), _first(lines, ("n_ctx_slot",))
    unified = _text(lines, ("kv_unified",))
    if length is None or slots is None or unified not in ("true", "false"):
        return {}
    return {0: length if unified == "true" else slots * length}


def _consistency(pool: float | None, concurrency: float | None, length: float | None) -> Row:
    """Whether pool and concurrency agree, given two printed decimals and requests that take whole blocks."""
    if pool is None or concurrency is None or length is None:
        return {"pool_consistent": None, "implied_pool_tokens": None}
    implied = concurrency * length
    return {
        "pool_consistent": abs(pool - implied) <= max(0.006 * length, 0.01 * pool) + 16,
        "implied_pool_tokens": implied,
    }


def _budget(lines: list[Match], rules: dict[str, Any], row: Row) -> str | None:
    if row["available_kv_gib_min"] is None and row["token_pool_tokens"] is None:
        return None
    if _first(lines, ("override_blocks", "arg.num_gpu_blocks_override")) is not None:
        return "num_gpu_blocks_override"
    if _first(lines, ("pinned_kv", "arg.kv_cache_memory_bytes", "arg.kv_cache_memory")) is not None:
        return "kv_cache_memory_bytes"
    if _first(lines, rules.get("fixed_by", ())) is not None:
        return "fixed"
    budget: str | None = rules.get("budget")
    return budget


def _compiled(lines: list[Match]) -> str | None:
    """Cold when anything was compiled in this boot, warm when all came from the cache, none when compiling was off."""
    shapes = {match.shape.id for match in lines}
    if "compile_cold" in shapes:
        return "cold"
    if "compile_warm" in shapes:
        return "warm"
    eager = _text(lines, ("arg.enforce_eager", "config.enforce_eager")) == "True"
    return "none" if eager or "eager" in shapes else None


def _api_servers(lines: list[Match], engine: str | None, stated: int | None, speakers: set[str]) -> Row:
    processes = {m.origin.process for m in lines} | speakers
    names = [process for process in processes if process.lower().startswith("apiserver")]
    return {"api_servers": stated or len(names) or None if engine == "vllm" else None}


def _times(lines: list[Match], served: int | None) -> Row:
    """When the boot began, as printed, and the seconds to the last time printed up to the line that shows it served."""
    stamps = [(m.number, m.origin.stamp) for m in lines if m.origin.stamp]
    start = stamps[0][1] if stamps else None
    last = next((stamp for number, stamp in reversed(stamps) if served is not None and number <= served), None)
    ready = any(m.shape.purpose == "ready" for m in lines)
    return {"started_at_text": start, "ready_s": seconds_between(start, last) if ready else None}
