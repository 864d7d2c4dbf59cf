"""Boots as the memory of the cache sees them: what each had, what a longest request needs, and which boots are alike.

A *series* is the boots of one population (same setting, memory budget, compile cache, host) and one length; they may
differ in max_num_batched_tokens, and only in that. A *cell* is the boots of one setting, length and batch size: a
longest request needs the same memory in all of them, however much memory they had.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb
import numpy as np

from analysis.estimates.estimate import Estimate, Evidence
from analysis.estimates.request_cost import needs_agree
from analysis.findings import apart
from analysis.findings.evidence import of_boots
from analysis.findings.frames import rows

FINDING = "30-kv-budget"
GIB = 2**30
_APART = ("host", "model", "engine_version", "kv_dtype", "compile_state", "kv_budget_source", "utilization")
"""What tells populations apart."""
_FACTS = (
    "available_kv", "pinned_kv", "refusal_available_kv", "kv_needed", "estimated_len", "token_pool", "max_concurrency",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KvBoot:
    """One boot: bytes and tokens as its log prints them, None where it does not (columns of the view kv_boots).

    `peak_bytes` is not of the log: the most memory that the engine's processes were seen to hold (boot_measures).
    """

    boot: str
    arm: str
    outcome: str
    engine: str | None
    engine_version: str | None
    model: str | None
    kv_dtype: str | None
    host: str | None
    compile_state: str | None
    kv_budget_source: str | None
    utilization: str | None
    request_setting: str
    population: str
    length_tokens: int
    batch_tokens: int | None
    available_bytes: float | None
    rounding_bytes: float
    refused_need_bytes: float | None
    estimated_length_tokens: int | None
    token_pool_tokens: int | None
    max_concurrency: float | None
    need_bytes: float | None
    need_rounding_bytes: float | None
    need_from: str | None
    requests: float | None
    peak_bytes: float | None = None

    @property
    def is_pinned(self) -> bool:
        """Whether the memory was set, not profiled: it says nothing about scatter, and does not answer to the batch."""
        return self.kv_budget_source != "profiled"


@dataclass(frozen=True)
class Cell:
    """The boots of one setting, length and batch size, and what one longest request needs in them."""

    setting: str
    batch: int
    length: int
    boots: tuple[KvBoot, ...]

    @cached_property
    def agreement(self) -> Estimate:
        """Whether the boots give one need; `broken` where they do not, and then the cell has no need."""
        need, rounding = self._needs(self.boots)
        return needs_agree(need, rounding)

    @property
    def is_broken(self) -> bool:
        """Whether the boots contradict each other."""
        return self.agreement.verdict == "broken"

    @cached_property
    def need(self) -> float:
        """The need (bytes) by the boots whose log rounds it least."""
        return float(np.median(self._needs(self._finest())[0]))

    @cached_property
    def need_rounding(self) -> float:
        """What the logs' rounding, and the boots' blocks, leave open about it (bytes, half a width)."""
        need, rounding = self._needs(self._finest())
        return float(max((need + rounding).max() - self.need, self.need - (need - rounding).min()))

    def _finest(self) -> tuple[KvBoot, ...]:
        least = min(b.need_rounding_bytes or 0.0 for b in self.boots)
        return tuple(b for b in self.boots if (b.need_rounding_bytes or 0.0) <= 2 * least)

    @staticmethod
    def _needs(boots: Iterable[KvBoot]) -> tuple[Any, Any]:
        pairs = [(b.need_bytes or 0.0, b.need_rounding_bytes or 0.0) for b in boots]
        return np.array([n for n, _ in pairs]), np.array([r for _, r in pairs])


@dataclass(frozen=True)
class Series:
    """The boots of one population and length, by their batch tokens; `name` tells the population from the others."""

    name: str
    population: str
    setting: str
    length: int
    boots: tuple[KvBoot, ...]

    @property
    def is_pinned(self) -> bool:
        """Whether the memory of these boots was set."""
        return self.boots[0].is_pinned

    @property
    def levels(self) -> list[int]:
        """The batch sizes that boots of the series were made with."""
        return sorted({b.batch_tokens for b in self.boots if b.batch_tokens is not None})

    def at(self, batch: int) -> list[KvBoot]:
        """The boots of one batch size."""
        return [b for b in self.boots if b.batch_tokens == batch]

    def values(self, measure: Callable[[KvBoot], float | None]) -> tuple[list[float], list[float]]:
        """Batch tokens and the measure of each boot that has both."""
        return values(self.boots, measure)


def values(boots: Iterable[KvBoot], measure: Callable[[KvBoot], float | None]) -> tuple[list[float], list[float]]:
    """Batch tokens and the measure of each of the boots that has both."""
    pairs = [
        (float(b.batch_tokens), value)
        for b in boots
        if b.batch_tokens is not None and (value := measure(b)) is not None
    ]
    return [x for x, _ in pairs], [y for _, y in pairs]


def available(boot: KvBoot) -> float | None:
    """Memory for the cache (bytes)."""
    return boot.available_bytes


def requests(boot: KvBoot) -> float | None:
    """Longest requests that fit at once; below one where a boot was refused."""
    return boot.requests


def load(connection: duckdb.DuckDBPyConnection) -> list[KvBoot]:
    """Every boot that prints its length and memory or a pool, in the order of the files."""
    columns = ", ".join(KvBoot.__slots__)
    peaks = "(select boot, value as peak_bytes from boot_measures where measure = 'peak_memory')"
    table = rows(connection, f"select {columns} from kv_boots left join {peaks} using (boot) order by ordinal_in_study")
    return [KvBoot(**row) for row in table.iter_rows(named=True)]


def cells(boots: Iterable[KvBoot]) -> list[Cell]:
    """The cells, by setting, length and batch size; of boots that say what a request needs."""
    found: dict[tuple[str, int, int], list[KvBoot]] = {}
    for b in boots:
        if b.batch_tokens is not None and b.need_bytes is not None and b.need_bytes > 0:
            found.setdefault((b.request_setting, b.length_tokens, b.batch_tokens), []).append(b)
    return [Cell(s, batch, length, tuple(of)) for (s, length, batch), of in sorted(found.items())]


def series(boots: Iterable[KvBoot]) -> list[Series]:
    """The series, in the order of their first boots; of boots whose batch tokens are printed."""
    found: dict[tuple[str, int], list[KvBoot]] = {}
    for b in boots:
        if b.batch_tokens is not None:
            found.setdefault((b.population, b.length_tokens), []).append(b)
    names = populations(of[0] for of in found.values())
    return [Series(names[p], p, of[0].request_setting, length, tuple(of)) for (p, length), of in found.items()]


def populations(boots: Iterable[KvBoot]) -> dict[str, str]:
    """A short name for each population: what tells it from the others; empty where there is only one."""
    return apart.names({b.population: {c: getattr(b, c) for c in _APART} for b in boots}, _APART)


def settings(boots: Iterable[KvBoot]) -> dict[str, str]:
    """The same for the settings that decide what a request needs, whatever memory there is for all of them."""
    columns = ("model", "engine_version", "kv_dtype")
    return apart.names({b.request_setting: {c: getattr(b, c) for c in columns} for b in boots}, columns)


def qualifiers(one: Series, among: Iterable[Series]) -> dict[str, str]:
    """What tells a figure of a series from those of the others: its length, and its population if there are more."""
    several = len({s.population for s in among}) > 1
    return {"max_model_len": str(one.length)} | ({"population": one.name} if several else {})


def lines(connection: duckdb.DuckDBPyConnection, boots: Iterable[KvBoot]) -> tuple[Evidence, ...]:
    """The log lines that the boots' memory, need and pool were read from."""
    return of_boots(connection, [b.boot for b in boots], _FACTS)
