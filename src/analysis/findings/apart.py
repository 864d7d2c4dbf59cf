"""Short names for groups of boots: what tells them apart, and no more than that."""

from collections.abc import Mapping
from typing import Any

COLUMNS = (
    "host", "model", "engine_version", "max_model_len_tokens", "max_num_batched_tokens", "kv_dtype", "compile_state",
    "kv_budget_source", "utilization",
)  # fmt: skip
"""What may tell groups apart, in the order in which a reader is told (columns of the view boot_arms)."""


def names(groups: Mapping[str, Mapping[str, Any]], columns: tuple[str, ...] = COLUMNS) -> dict[str, str]:
    """A name for each group from its values of `columns`: only those that split the groups further; "" for one group.

    Groups that no column tells apart are numbered: they differ in arguments that have no short name.
    """
    plain = dict.fromkeys(groups, "")
    for column in columns:
        longer = {key: _joined(plain[key], _word(column, group.get(column))) for key, group in groups.items()}
        if len(set(longer.values())) > len(set(plain.values())):
            plain = longer
    found: dict[str, str] = {}
    for key, name in plain.items():
        same = [other for other in plain if plain[other] == name]
        found[key] = name if len(same) == 1 else f"{name} #{same.index(key) + 1}".strip()
    return found


def _joined(name: str, word: str) -> str:
    return ", ".join(filter(None, (name, word)))


def _word(column: str, value: Any) -> str:
    if value is None:
        return ""
    words = {
        "compile_state": {"cold": "cold compile cache", "warm": "warm compile cache"}.get(value, "no compilation"),
        "kv_budget_source": "profiled" if value == "profiled" else "pinned",
        "utilization": f"{str(value).partition('=')[2]} of memory",
        "model": str(value).rsplit("/", 1)[-1],
    }
    if column.startswith("max_"):
        return f"{'length' if 'len' in column else 'batch'} {value:,}"
    return words.get(column, str(value))
