"""Which function computes which estimate: the one place that claims, and whatever else asks by id, look in.

To make a figure claimable, name its ids and its function here; the function takes a store's connection and returns
estimates under these ids.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import duckdb

from analysis.estimates.estimate import Estimate
from analysis.findings import (
    accountings,
    arm_range,
    arm_verdicts,
    arms,
    boot_pairs,
    boot_risk,
    held,
    inventory,
    kv_cost,
    kv_from_boots,
    kv_request,
    lengths,
    levers,
    prefill_rates,
    request_counts,
    small_steps,
    step_range,
    step_time,
    time_split,
    token_pool,
    wall_states,
)

Connection = duckdb.DuckDBPyConnection
Finder = Callable[[Connection], Iterable[Estimate]]


def _prefill_shares(c: Connection) -> list[Estimate]:
    return time_split.prefill_shares(c, time_split.runs(c))


def _levers(c: Connection) -> list[Estimate]:
    runs = time_split.runs(c)
    known = accountings.Accountings(
        time_split.prefill_shares(c, runs), step_range.logged_or_counted(c, runs), wall_states.shares(c, runs),
        [time_split.mean_concurrency(c, run) for run in runs], wall_states.at_once(c, runs), held.shares(c),
    )  # fmt: skip
    return levers.levers(known, runs, lengths.by_run(c, runs))


def _concurrency(c: Connection) -> list[Estimate]:
    runs = time_split.runs(c)
    return [*(time_split.mean_concurrency(c, run) for run in runs), *wall_states.at_once(c, runs)]


def _costs(c: Connection) -> list[Estimate]:
    known = boot_risk.memory(c)
    return kv_cost.costs(c, known.series, known.cells)


def _parts(c: Connection) -> list[Estimate]:
    known = boot_risk.memory(c)
    return [e for part in known.parts for e in (part.fixed, part.per_token)]


def _needs(c: Connection) -> list[Estimate]:
    known = boot_risk.memory(c)
    return kv_request.needs(c, known.boots, known.cells)


FINDERS: Sequence[tuple[tuple[str, ...], Finder]] = (
    (("time.prefill_share.request_seconds",), _prefill_shares),
    (("time.prefill_share.request_seconds.bound",), lambda c: time_split.prefill_bounds(c, time_split.runs(c))),
    (("time.queue_seconds", "time.prefill_seconds", "time.decode_seconds"),
     lambda c: [e for run in time_split.runs(c) for e in time_split.phase_seconds(run)]),
    (("time.prefill_share.step_time", "time.prefill_share.step_time_range"),
     lambda c: step_time.prefill_shares(c, time_split.runs(c))),
    (("time.prefill_share.wall_clock", "time.wall_state"), lambda c: wall_states.shares(c, time_split.runs(c))),
    (("time.prefill_share.step_time_from_traces",), lambda c: wall_states.step_shares(c, time_split.runs(c))),
    (("time.mean_concurrency",), _concurrency),
    (("time.lever_ceiling",), _levers),
    ((prefill_rates.LOAD, prefill_rates.MEAN, prefill_rates.MEDIAN, prefill_rates.PEAK),
     lambda c: [e for run in time_split.runs(c) for e in prefill_rates.rates(c, run)]),
    ((small_steps.SMALL, small_steps.SMALL_RANGE), lambda c: small_steps.shares(c, time_split.runs(c))),
    (("finish.share",), lambda c: [e for run in time_split.runs(c) for e in time_split.finish_shares(run)]),
    (("cache.prefix_hit_rate",), lambda c: [time_split.prefix_hits(run) for run in time_split.runs(c)]),
    (("boots.outcome_count",), inventory.outcome_counts),
    (("pool.tokens", "pool.available", "pool.requests_at_max_length"), token_pool.census),
    (("pool.spread", "pool.next_boot"), token_pool.predictions),
    ((boot_pairs.RANGE,), boot_pairs.pairs),
    ((boot_pairs.IN_BYTES,), boot_pairs.in_bytes),
    (("pool.identity",), token_pool.identity),
    (("pool.spread_ratio",), token_pool.spread_ratios),
    ((boot_pairs.NEEDED, boot_pairs.LONGEST), boot_pairs.refusals),
    ((kv_from_boots.PREDICTED,), kv_from_boots.predictions),
    (("kv.cost_per_batch_token",), _costs),
    (("kv.request_fixed", "kv.request_per_token"), _parts),
    (("kv.request_need",), _needs),
    ((request_counts.REQUESTS, request_counts.UNMATCHED, request_counts.COMPUTED, request_counts.LONGEST),
     request_counts.counts),
    ((request_counts.PEAK_USE,), request_counts.peak_use),
    ((arm_range.RANGE,), arm_range.ranges),
    (("arms.ratio",), lambda c: arm_verdicts.verdicts(arms.of(c))),
)  # fmt: skip
"""Ids, and the function that computes them."""


@dataclass(slots=True)
class Registry:
    """The estimates of one study by id, each computed when first asked for."""

    connection: Connection
    _found: dict[Finder, list[Estimate]] = field(default_factory=dict)

    def of(self, id: str) -> list[Estimate]:
        """All estimates under an id. Raises UnknownIdError where no function computes it."""
        finder = next((finder for ids, finder in FINDERS if id in ids), None)
        if finder is None:
            raise UnknownIdError(id)
        if finder not in self._found:
            self._found[finder] = list(finder(self.connection))
        return [estimate for estimate in self._found[finder] if estimate.id == id]

    def everything(self) -> list[Estimate]:
        """Every estimate that some function computes."""
        return [estimate for ids, _ in FINDERS for id in ids for estimate in self.of(id)]


class UnknownIdError(KeyError):
    """An id that no function computes."""
