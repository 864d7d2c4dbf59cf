"""What the study declared before it was measured: the objective, its targets by class, and the limits to stay below."""

import json
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import duckdb

from analysis.redact import cut

REQUEST_LIMITS = ("ttft_s", "inter_token_s", "completion_s")
"""Limits that one request meets or misses: goodput is the share of requests that meet all that are declared."""
TARGETS = ("valid_records_per_hour", "goodput_share")
LIMITS = {"memory_used_bytes": "bytes", "swap_used_bytes": "bytes", "queue_s": "s", "temperature_celsius": "Cel",
          "power_w": "W", "kv_cache_usage": "1"}  # fmt: skip
"""Limits of the machine, and their units."""
TEXTS = ("what", "sacrifice", "stop", "declared", "valid_record")


NOT_DECLARED = (
    "No objective was declared (study.toml, [objective]). So nothing here is good or bad: there is no goodput, no "
    "target to be near, and no side that may be sacrificed. A target that is chosen after looking proves nothing."
)


@dataclass(frozen=True, slots=True)
class Objective:
    """`text`: what was written; `classes`: numbers by class and key; `limits`: by key; `refused`: keys of no use."""

    text: dict[str, str] = field(default_factory=dict)
    classes: dict[str, dict[str, float]] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    meter_error: float | None = None
    refused: tuple[str, ...] = ()

    @property
    def declared(self) -> bool:
        """Whether anything was declared that a measurement can be held against."""
        return bool(self.text.get("what") or self.classes or self.limits)

    def lines(self) -> list[tuple[str, str]]:
        """What was declared, a line each: its name and its text; or what it means that nothing was."""
        said = [(key.replace("_", " "), self.text[key]) for key in TEXTS if key in self.text]
        for name, targets in sorted(self.classes.items()):
            said += [(f"{name}: {key}", f"{value:g}") for key, value in sorted(targets.items())]
        said += [(f"limit: {key}", f"{value:g}") for key, value in sorted(self.limits.items())]
        if not self.declared:
            said.insert(0, ("no objective", NOT_DECLARED))
        elif "declared" not in self.text:
            said.append(("declared", "no date: whether it was before the first run cannot be told"))
        return said + [("not understood", key) for key in self.refused]


def objective(connection: duckdb.DuckDBPyConnection) -> Objective:
    """The objective of study.toml (docs/formats/study.md); what is not understood is named, never guessed."""
    query = """
        select key, value from study_facts
        where starts_with(key, 'objective.') or key = 'energy.meter_error' order by key, value
    """
    text: dict[str, str] = {}
    classes: dict[str, dict[str, float]] = {}
    limits: dict[str, float] = {}
    meter, refused = None, list[str]()
    for key, raw in connection.sql(query).fetchall():
        value, path = _value(raw), key.split(".")
        number = _number(value)
        if key == "energy.meter_error" and number is not None and number < 1:
            meter = number
        elif len(path) == 2 and path[1] in TEXTS and isinstance(value, str) and value.strip():
            text[path[1]] = cut(value.strip(), 400)
        elif len(path) == 4 and path[1] == "classes" and path[3] in (*REQUEST_LIMITS, *TARGETS) and number:
            if path[3] == "goodput_share" and number > 1:  # 95 is not 95 %
                refused.append(key[:80])
                continue
            classes.setdefault(path[2], {})[path[3]] = number
        elif len(path) == 3 and path[1] == "limits" and path[2] in LIMITS and number is not None:
            limits[path[2]] = number
        elif key != "objective.margin":
            refused.append(cut(key, 80))
    return Objective(text, classes, limits, meter, tuple(refused))


def _value(raw: str | None) -> Any:
    try:
        return json.loads(raw or "null")
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
    return float(value) if usable else None
