"""How prefill, decode and the prefill share move with the prompt: by client's clocks, and by what counters rose by.

What clients see as prefill holds the network and the queue; the engine's own prefill seconds hold neither.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import duckdb
import numpy as np
import polars as pl

from analysis.estimates import length_line
from analysis.estimates.estimate import Estimate, Evidence, no_interval, not_computable
from analysis.estimates.length_line import AtLength, LengthFit
from analysis.estimates.ratio_requests import LEAST_CLUSTERS, ratio_of_requests, share_of_requests
from analysis.estimates.ratio_scrapes import Windows, blocks_of
from analysis.findings import integrity
from analysis.findings.time_split import Run, runs

FINDING = "25-levers"
PREFILL, DECODE, SHARE = "length.prefill_seconds", "length.decode_seconds", "length.prefill_share"
AT = {PREFILL: "at_length.prefill_seconds", DECODE: "at_length.decode_seconds", SHARE: "at_length.prefill_share"}
SLOPE = "rate.prefill.slope"
BLOCKS = 10
FAR, LEAST_IN_BIN = 2, 8
"""Prompts whose lengths differ by more than this factor are two kinds; a kind of twice so many is cut in halves."""
CLIENTS = "clients: from sending to the first token is called prefill, so queue and network are inside"
ENGINE = "engine: its own prefill and decode seconds of what finished between two scrapes"
NEEDED = "it takes requests with times and token counts, or timed pages with counts of requests and prompt tokens"


class UnknownRunError(ValueError):
    """A run that there is not: the message lists those there are."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """What is known of one run by length: requests as clients recorded them, and the lines of both sources.

    A line is a fit, or the reason that there is none.
    """

    name: str
    qualifiers: dict[str, str]
    requests: pl.DataFrame
    clients: LengthFit | str
    engine: LengthFit | str
    evidence: tuple[Evidence, ...]


def by_run(connection: duckdb.DuckDBPyConnection, of_runs: list[Run]) -> list[Lengths]:
    """The lines of every run and of every place of requests that is no run."""
    table = connection.sql("select * from request_lengths order by place, file, run, ordinal").pl()
    parts = {str(k[0]): part for k, part in table.group_by("place", maintain_order=True)}
    broken = integrity.broken_runs(connection)
    found = []
    for run in of_runs:
        requests = parts.pop(run.name, table.clear())
        lines = (e for c in ("prefill_time", "request_prompt_tokens") for e in run.evidence.get(c, ()))
        line = f"not publishable: {broken[run.name]}" if run.name in broken else _engine_line(connection, run)
        found.append(_lengths(run.name, run.qualifiers, requests, line, tuple(lines)))
    for place, requests in parts.items():
        names = {"boot": place} if requests["boot"][0] else {"target": place}
        found.append(_lengths(place, names, requests, "no pages of this run", ()))
    return found


def _lengths(
    name: str, names: dict[str, str], requests: pl.DataFrame, engine: LengthFit | str, lines: tuple[Evidence, ...]
) -> Lengths:
    prompt, output, prefill, decode = (
        requests[c].to_numpy() for c in ("prompt_tokens", "output_tokens", "prefill_s", "decode_s")
    )
    clients = length_line.of_requests(prompt, output, prefill, decode, _block(requests))
    files = tuple(Evidence(file) for file in requests["file"].unique(maintain_order=True)[:12])
    return Lengths(name, names, requests, clients, engine, (*files, *lines))


def _block(requests: pl.DataFrame) -> np.ndarray:
    """The block of time of each request: equal parts of the span of its clock."""
    return np.minimum((requests["moment"].to_numpy() * BLOCKS).astype(np.int64), BLOCKS - 1)


def _engine_line(connection: duckdb.DuckDBPyConnection, run: Run) -> LengthFit | str:
    table = connection.sql(
        """
        select
            start_s, end_s, life,
            coalesce(sum(increase) filter (concept = 'prefill_time' and statistic = 'count'), 0)::double as requests,
            coalesce(sum(increase) filter (concept = 'prefill_time' and statistic = 'sum'), 0)::double as prefill_s,
            coalesce(sum(increase) filter (concept = 'decode_time' and statistic = 'sum'), 0)::double as decode_s,
            coalesce(sum(increase) filter (concept = 'request_prompt_tokens'), 0)::double as prompt,
            coalesce(sum(increase) filter (concept = 'request_generation_tokens'), 0)::double as output
        from run_windows
        where run = $run and statistic in ('sum', 'count') and start_s < end_s
            and (concept in ('prefill_time', 'decode_time') or statistic = 'sum')
        group by start_s, end_s, life order by life, start_s
        """,
        params={"run": run.name},
    ).pl()
    missing = [c for c in ("prefill_time", "decode_time", "request_prompt_tokens", "request_generation_tokens")
               if run.total(c) is None]  # fmt: skip
    if missing:
        return run.why_missing(*missing)
    if not table.height:
        return "no two timed pages"
    columns = ("requests", "prompt", "output", "prefill_s", "decode_s")
    windows = Windows.of(*(table[c].to_numpy() for c in ("start_s", "end_s", "prompt", "prompt", "requests", "life")))
    requests, prompt, output, prefill, decode = (table[c].to_numpy() for c in columns)
    return length_line.of_windows(requests, prompt, output, prefill, decode, blocks_of(windows, BLOCKS))


def at_length(found: Lengths, prompt_tokens: float, output_tokens: float) -> AtLength:
    """Prefill seconds, decode seconds and prefill share of a request of these lengths; `picked` says by what data."""
    offers = [
        (said, length_line.at_length(fit, prompt_tokens, output_tokens))
        for said, fit in ((CLIENTS, found.clients), (ENGINE, found.engine))
        if not isinstance(fit, str)
    ]
    usable = [offer for offer in offers if offer[1].share.low is not None] or offers
    names = {**found.qualifiers, "prompt_tokens": f"{prompt_tokens:.12g}", "output_tokens": f"{output_tokens:.12g}"}
    if not usable:
        why = f"{NEEDED} (clients: {found.clients}; engine: {found.engine})"
        each = AtLength(not_computable("s", why), not_computable("s", why), not_computable("1", why))
    else:
        each = AtLength(*(_picked(e, usable[0][0]).with_evidence(*found.evidence[:12]) for e in usable[0][1]))
    return AtLength(*(e.named(id, FINDING, **names) for id, e in zip(AT.values(), each, strict=True)))


def _picked(e: Estimate, said: str) -> Estimate:
    return replace(e, picked=said)


def ask(connection: duckdb.DuckDBPyConnection, prompt_tokens: float, output_tokens: float, run: str) -> AtLength:
    """The same for a run by its name. Raises UnknownRunError, which lists the runs there are."""
    found = {each.name: each for each in by_run(connection, runs(connection))}
    if run not in found:
        raise UnknownRunError(f"no run {run!r}; there are {', '.join(found) or 'none'}")
    return at_length(found[run], prompt_tokens, output_tokens)


def slopes(found: list[Lengths]) -> list[Estimate]:
    """rate.prefill.slope of each run: prompt tokens per further second of prefill, by `source` (clients, engine)."""
    rates = []
    for each in found:
        for source, fit in (("clients", each.clients), ("engine", each.engine)):
            if isinstance(fit, str):
                rate = not_computable("tokens/s", fit)
            else:
                rate = length_line.slope_rate(fit).with_warnings("tokens found in the prefix cache count as computed")
            rates.append(
                rate.with_evidence(*each.evidence[:12]).named(SLOPE, FINDING, **each.qualifiers, source=source)
            )
    return rates


def bins(found: list[Lengths]) -> list[Estimate]:
    """Mean prefill and decode seconds and prefill share of the requests of each run, in groups by length.

    The qualifier `prompt_tokens` is the range of the group. Blocks of time are the units where there are enough.
    """
    estimates = []
    for each in found:
        requests = each.requests.with_columns(pl.Series("block", _block(each.requests))).sort("prompt_tokens")
        for part in _groups(requests):
            low, high = (f"{part['prompt_tokens'][i]:.0f}" for i in (0, -1))
            names = {**each.qualifiers, "prompt_tokens": f"{low} to {high}" if high != low else low}
            prefill, decode, one = part["prefill_s"].to_numpy(), part["decode_s"].to_numpy(), np.ones(part.height)
            block = part["block"].to_numpy() if part["block"].n_unique() >= LEAST_CLUSTERS else None
            figures = {
                PREFILL: _seconds(prefill, one, block),
                DECODE: _seconds(decode, one, block),
                SHARE: share_of_requests(prefill, decode, block, "blocks of time"),
            }
            files = tuple(Evidence(f) for f in part["file"].unique(maintain_order=True)[:12])
            estimates += [
                e.with_warnings(CLIENTS).with_evidence(*files).named(id, FINDING, **names) for id, e in figures.items()
            ]
    return estimates


def by_class(found: list[Lengths]) -> list[Estimate]:
    """length.prefill_share of each run and class, where a run has several classes of requests."""
    estimates = []
    for each in found:
        requests = each.requests.with_columns(pl.Series("block", _block(each.requests))).drop_nulls("class")
        kinds = requests.partition_by("class", maintain_order=True)
        for part in sorted(kinds, key=lambda p: str(p["class"][0])) if len(kinds) > 1 else ():
            block = part["block"].to_numpy() if part["block"].n_unique() >= LEAST_CLUSTERS else None
            share = share_of_requests(
                part["prefill_s"].to_numpy(), part["decode_s"].to_numpy(), block, "blocks of time"
            )
            files = tuple(Evidence(f) for f in part["file"].unique(maintain_order=True)[:12])
            names = {**each.qualifiers, "class": str(part["class"][0])}
            estimates.append(share.with_warnings(CLIENTS).with_evidence(*files).named(SHARE, FINDING, **names))
    return estimates


def _seconds(seconds: np.ndarray, one: np.ndarray, block: np.ndarray | None) -> Estimate:
    if not seconds.sum() > 0:
        return no_interval(0.0, "s", "mean", "no request took any of it", n=len(seconds), n_of="requests")
    return ratio_of_requests(seconds, one, "s", block, "blocks of time")


def _groups(requests: pl.DataFrame) -> list[pl.DataFrame]:
    """Kinds of prompts, where neighbouring lengths are far apart; each in up to two halves, one length together."""
    lengths = requests["prompt_tokens"].to_numpy()
    edges = [0, *(np.flatnonzero(lengths[1:] > FAR * lengths[:-1]) + 1), len(lengths)] if len(lengths) else []
    for a, b in list(pairwise(edges)):
        middle = a + int(np.searchsorted(lengths[a:b], lengths[(a + b) // 2], side="left"))
        if b - a >= 2 * LEAST_IN_BIN and middle > a:
            edges.append(middle)
    return [requests[a:b] for a, b in pairwise(sorted(edges))]
