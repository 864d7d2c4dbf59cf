"""Assumption: blocks of time (or runs) are independent. Completions per hour, goodput, energy per task."""

from dataclasses import replace
from math import exp, sqrt

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates.clusters import clustered_ratio, clustered_share, t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, Floats, exp_end, floats, problem
from analysis.estimates.share_edge import share, wilson

HOUR_S = 3600.0
LEAST_PER_BLOCK = 5
CERTAIN_N = 400
LEAST_RUNS_ENERGY = 3


def rate_per_hour(finished_at_s: ArrayLike, start_s: float, end_s: float) -> Estimate:
    """Completions per hour of one run: 10 (else 5) equal blocks of time, t.

    `start_s` and `end_s` are the clock that is meant: with or without ramp-up and drain. Fewer than five blocks of
    five completions give the rate only.
    """
    found = floats(finished_at_s)
    why = None if len(found) == 0 else problem("completions", found, signed=True)
    if why is None and not (np.isfinite([start_s, end_s]).all() and end_s > start_s):
        why = "the run has no duration"
    if why is not None:
        return no_interval(None, "1/h", "block means", why, n_of="blocks")
    inside = found[(found >= start_s) & (found <= end_s)]
    rate = len(inside) / (end_s - start_s) * HOUR_S
    blocks = next((b for b in (10, 5) if len(inside) >= b * LEAST_PER_BLOCK), None)
    if blocks is None:
        return no_interval(
            rate, "1/h", "rate", "fewer than 5 blocks of 5 completions", n=len(inside), n_of="completions"
        )
    counts = np.histogram(inside, blocks, (start_s, end_s))[0]
    return _mean_of_blocks(counts * blocks / (end_s - start_s) * HOUR_S, rate)


def _mean_of_blocks(each: Floats, rate: float) -> Estimate:
    b = len(each)
    if each.std() == 0:
        return no_interval(rate, "1/h", "block means", "the blocks are all alike: no spread seen", n=b, n_of="blocks")
    reach = t_quantile(b - 1) * float(each.std(ddof=1)) / sqrt(b)
    return Estimate(
        rate, "1/h", "estimate", f"{b} block means, t", max(rate - reach, 0.0), rate + reach, CONFIDENCE, b, "blocks",
        "blocks of time are independent; the load is the same throughout",
    )  # fmt: skip


def rate_of_runs(counts: ArrayLike, seconds: ArrayLike) -> Estimate:
    """Completions per hour over several runs: geometric mean, t on log rates, runs as units."""
    k, s = floats(counts), floats(seconds)
    why = problem("runs", k, s, positive=True) or ("one run: give its completion times" if len(k) < 2 else None)
    rates = np.log(k / s * HOUR_S) if why is None else k
    if why is None and np.ptp(rates) == 0:
        why = "the runs are all alike: no spread seen"
    if why is not None:
        return no_interval(None, "1/h", "t on log rates", why, n=len(k), n_of="runs")
    reach = t_quantile(len(k) - 1) * float(rates.std(ddof=1)) / sqrt(len(k))
    centre = float(rates.mean())
    return Estimate(
        exp(centre), "1/h", "estimate", "geometric mean, t on log rates", exp_end(centre - reach),
        exp_end(centre + reach), CONFIDENCE, len(k), "runs", "runs are independent",
    )  # fmt: skip


def goodput(met: ArrayLike, at_s: ArrayLike, unfinished: int = 0) -> tuple[Estimate, Estimate]:
    """The share of requests that met their objective: (unfinished counted as misses, finished requests only).

    The wider of Wilson and five batch means, because misses come in bursts.
    """
    ok, at = floats(met), floats(at_s)
    why = problem("requests", ok) or problem("requests", at, signed=True)
    why = why or (None if len(ok) == len(at) and np.isin(ok, (0, 1)).all() else "requests: not one yes or no each")
    if why is not None or unfinished < 0:
        refused = no_interval(None, "1", "wider of Wilson and batch means", why or "unfinished requests are negative")
        return refused, refused
    finished = _goodput(ok, at)
    if not unfinished:
        return finished, finished
    late = np.concatenate((at, np.linspace(at.min(), at.max(), unfinished)))
    return _goodput(np.concatenate((ok, np.zeros(unfinished))), late), finished


def _goodput(ok: Floats, at: Floats) -> Estimate:
    single = share(float(ok.sum()), len(ok))
    notes = (f"one run of {len(ok)} requests: at least this uncertain",) if len(ok) < CERTAIN_N else ()
    if single.value in (0.0, 1.0) or np.ptp(at) == 0 or len(ok) < 5 * LEAST_PER_BLOCK:
        return single.with_warnings(*notes)
    position = np.floor((at - at.min()) / np.ptp(at) * 5).astype(np.int64)
    blocked = clustered_share(ok, np.ones(len(ok)), np.minimum(position, 4), "blocks", "blocks of time are independent")
    low, high = wilson(float(ok.mean()), len(ok))
    wider = blocked if blocked.low is not None and (blocked.high or 0) - blocked.low > high - low else single
    return replace(wider, method=f"wider of Wilson and 5 batch means: {wider.method}", warnings=notes)


def energy_per_task(joules: ArrayLike, tasks: ArrayLike, meter_error: float = 0.05) -> Estimate:
    """Energy per task over runs or blocks: ratio of sums, t on the logarithm; at least 3 units.

    The meter's systematic error does not average out: it is added linearly, separately, as a sensitivity.
    """
    j, k = floats(joules), floats(tasks)
    why = problem("runs", j, k, positive=True)
    if why is not None:
        return no_interval(None, "J", "ratio of sums", why, n_of="runs")
    value = float(j.sum() / k.sum())
    if len(j) < LEAST_RUNS_ENERGY:
        return no_interval(value, "J", "ratio of sums", f"fewer than {LEAST_RUNS_ENERGY} runs", n=len(j), n_of="runs")
    got = clustered_ratio(j, k, np.arange(len(j)), "J", "runs", "runs are independent; gross energy unless said")
    if got.low is None or got.high is None:
        return got
    off = meter_error * value
    name = f"with the meter's ±{meter_error:.0%}"
    return replace(got, sensitivity={name: (max(got.low - off, 0.0), got.high + off)})
