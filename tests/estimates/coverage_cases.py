"""What each method is held to: a simulated truth, the library's own call, and the coverage that docs/methods.md claims.

A case is naive when it runs a tempting wrong method; it must fail, or the right method is not needed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats
from simulated_traffic import LENGTH_EDGES, MIXES, TTFT_EDGES, Drift, Mix, engine_steps, histogram

from analysis.estimates import prefix_hits, quantile_buckets, quantile_values
from analysis.estimates.estimate import Estimate
from analysis.estimates.ratio_page import share_of_sums
from analysis.estimates.ratio_requests import share_of_requests
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes
from analysis.estimates.share_edge import share, wilson

Interval = tuple[float, float]
Draw = Callable[[np.random.Generator], tuple[Interval | None, float]]


@dataclass(frozen=True)
class Case:
    """One simulated study, its interval and its truth per call of `draw`; coverage must lie in [least, most]."""

    method: str
    situation: str
    least: float
    most: float
    draw: Draw
    reps: int = 300
    long_reps: int = 1000
    naive: bool = False


def ends(e: Estimate) -> Interval | None:
    return None if e.low is None or e.high is None else (e.low, e.high)


def _page(mix: Mix, n: int, which: str) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        x, y = mix.draw(rng, n)
        got = share_of_sums(histogram(x), histogram(y), histogram(x + y))
        return ends(getattr(got, which)), mix.share

    return draw


def _page_seconds_as_trials(mix: Mix, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        x, y = mix.draw(rng, n)
        r, total = x.sum() / (x + y).sum(), (x + y).sum()
        half = 1.96 * np.sqrt(r * (1 - r) / total)
        return (r - half, r + half), mix.share

    return draw


def page_cases() -> Iterator[Case]:
    """Share of sums from one page."""
    least = {"shared slowdown": 0.93, "heavy prefill tail": 0.91}
    for name, mix in MIXES.items():
        for n in (401, 5000):
            yield Case("one page, n ≥ 100", f"{name}, n = {n}", least.get(name, 0.925), 1.0,
                       _page(mix, n, "estimate"), reps=120 if n == 401 else 0, long_reps=600)  # fmt: skip
    fast = MIXES["fast prefill, heavy tail"]
    yield Case("one page, n ≥ 100", "fast prefill, heavy tail, n = 120", 0.92, 1.0, _page(fast, 120, "estimate"))
    for n in (8, 20, 50):
        yield Case(
            "one page, n 8–99",
            f"chat and documents, n = {n}",
            0.91,
            1.0,
            _page(MIXES["chat and documents"], n, "estimate"),
        )
    yield Case(
        "one page, n 8–99", "shared slowdown, n = 20", 0.93, 1.0, _page(MIXES["shared slowdown"], 20, "estimate")
    )
    for n in (50, 401):
        yield Case("one page, guaranteed bound", f"heavy prefill tail, n = {n}", 0.975, 1.0,
                   _page(MIXES["heavy prefill tail"], n, "bound"), reps=100, long_reps=600)  # fmt: skip
    yield Case("seconds as trials (naive)", "shared slowdown, n = 401", 0.0, 0.75,
               _page_seconds_as_trials(MIXES["shared slowdown"], 401), naive=True)  # fmt: skip


def _scrapes(drift: Drift, naive: bool = False) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        window, x, y, start = drift.draw(rng)
        if naive:
            return ends(share_of_requests(x, y)), drift.share
        sums = [np.bincount(window, v, minlength=len(start)) for v in (x, x + y, np.ones(len(x)))]
        windows = Windows.of(start, start + drift.step_s, *sums)
        return ends(share_from_scrapes(windows, share_of_requests(x, y))), drift.share

    return draw


def scrape_cases() -> Iterator[Case]:
    """Share of sums from a series of scrapes, with a mix that drifts."""
    for hours, tau, least, most in (
        (1, 0, 0.94, 1.0), (1, 120, 0.92, 0.99), (1, 600, 0.74, 0.90), (6, 600, 0.92, 0.99), (24, 600, 0.94, 0.99),
    ):  # fmt: skip
        yield Case("scrapes, widest of three", f"{hours} h, τ = {tau} s", least, most, _scrapes(Drift(hours, tau)),
                   reps={1: 150, 6: 60, 24: 0}[hours], long_reps=600 if hours < 24 else 250)  # fmt: skip
    for hours in (1, 6):
        yield Case("independent requests (naive)", f"{hours} h, τ = 600 s", 0.0, 0.72,
                   _scrapes(Drift(hours, 600), True), reps=100 * (hours == 1), long_reps=400,
                   naive=True)  # fmt: skip


def _runs(clustered: bool) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        run = np.repeat(np.arange(10), 40)
        shift = rng.standard_normal(10)[run]
        document = rng.random(400) < stats.norm.cdf((stats.norm.ppf(0.3) + 0.7 * shift) / 1.0)
        x, y = Mix().draw(rng, 400, document)
        truth = Mix(documents=float(stats.norm.cdf(stats.norm.ppf(0.3) / np.sqrt(1 + 0.49)))).share
        return ends(share_of_requests(x, y, run if clustered else None)), truth

    return draw


def _requests(mix: Mix, n: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        return ends(share_of_requests(*mix.draw(rng, n))), mix.share

    return draw


def request_cases() -> Iterator[Case]:
    """Share of sums from per-request values."""
    for n, least in ((50, 0.89), (401, 0.92)):
        yield Case("requests, delta", f"chat and documents, n = {n}", least, 0.97, _requests(Mix(), n), reps=600)
    yield Case("requests, 10 runs as clusters", "the mix differs from run to run", 0.92, 0.98, _runs(True), reps=600)
    yield Case("requests as independent (naive)", "the mix differs from run to run", 0.0, 0.85, _runs(False), reps=600,
               naive=True)  # fmt: skip


_TTFT = (0.2, 1.6)


def _quantile(n: int, q: float, how: str) -> Draw:
    truth = float(_TTFT[0] * np.exp(_TTFT[1] * stats.norm.ppf(q)))

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        values = _TTFT[0] * np.exp(_TTFT[1] * rng.standard_normal(n))
        if how == "values":
            return ends(quantile_values.quantile(values, q, "s")), truth
        b = histogram(values, TTFT_EDGES)
        if how == "buckets":
            return ends(quantile_buckets.quantile(b, q, "s")), truth
        draws = rng.multinomial(n, b.counts / n, size=100)
        each = [quantile_buckets.interpolated(type(b)(b.upper, c.astype(float), b.total), q) for c in draws]
        return percentiles(np.array([e for e in each if e is not None])), truth

    return draw


def percentiles(draws: np.ndarray) -> Interval | None:
    return None if not len(draws) else (float(np.quantile(draws, 0.025)), float(np.quantile(draws, 0.975)))


def quantile_cases() -> Iterator[Case]:
    """Quantiles of values and of buckets."""
    for n, q in ((50, 0.5), (401, 0.5), (401, 0.95), (401, 0.99), (5000, 0.95)):
        yield Case("quantile of values", f"p{q * 100:g}, n = {n}", 0.93, 0.985, _quantile(n, q, "values"), 500, 2000)
        yield Case("quantile of buckets", f"p{q * 100:g}, n = {n}", 0.985, 1.0, _quantile(n, q, "buckets"), 200, 1000)
    yield Case("bootstrap of histogram_quantile (naive)", "p50, n = 5000", 0.0, 0.6,
               _quantile(5000, 0.5, "interpolated"), reps=30, long_reps=200, naive=True)  # fmt: skip


def _share(n: int, p: float) -> Draw:
    return lambda rng: (ends(share(float(rng.binomial(n, p)), n)), p)


def _hits(n: int, pattern: str, how: str) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        lengths = np.ceil(np.exp(6.5 + 1.1 * rng.standard_normal(n)))
        part = rng.random(n) if pattern == "multi-turn" else np.ones(n)
        p = 0.034 if pattern == "rare re-sends" else 0.5
        hits = np.where(rng.random(n) < p, part * lengths, 0.0)
        truth = p * (0.5 if pattern == "multi-turn" else 1.0)
        if how == "tokens":
            return wilson(hits.sum() / lengths.sum(), lengths.sum()), truth
        if how == "requests":
            return ends(prefix_hits.hit_share_from_requests(hits, lengths)), truth
        got = prefix_hits.hit_share(float(hits.sum()), float(lengths.sum()), histogram(lengths, LENGTH_EDGES))
        return ends(got), truth

    return draw


def _steps(scale: bool) -> Draw:
    steps, rate, limit = 20_000, 0.045, 8

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        running, requests = engine_steps(rng, steps, rate)
        busy = running[running > 0]
        seen = float((busy <= limit).mean())
        law = stats.poisson(rate * 180.0)
        truth = float((law.cdf(limit) - law.pmf(0)) / (1 - law.pmf(0)))
        return wilson(seen, requests / 4 if scale else len(busy)), truth

    return draw


def share_cases() -> Iterator[Case]:
    """Shares of requests, prefix hits, engine steps."""
    for n, p in ((5, 0.69), (10, 0.69), (50, 0.69), (401, 0.69), (401, 0.01)):
        yield Case("share of requests", f"p = {p}, n = {n}", 0.92, 1.0, _share(n, p), reps=1500, long_reps=4000)
    for pattern in ("rare re-sends", "multi-turn"):
        for n in (50, 401):
            yield Case("prefix hits, Kish", f"{pattern}, n = {n}", 0.94, 1.0, _hits(n, pattern, "page"), 300, 1500)
    yield Case(
        "prefix hits, requests", "multi-turn, n = 401", 0.925, 1.0, _hits(401, "multi-turn", "requests"), reps=600
    )
    yield Case(
        "prefix hits, requests", "rare re-sends, n = 401", 0.935, 1.0, _hits(401, "rare re-sends", "requests"), reps=600
    )
    yield Case(
        "tokens as trials (naive)",
        "rare re-sends, n = 401",
        0.0,
        0.1,
        _hits(401, "rare re-sends", "tokens"),
        naive=True,
    )
    yield Case(
        "engine steps, requests / 4 (scale only)", "20,000 steps, 900 requests", 0.70, 0.99, _steps(True), 150, 500
    )
    yield Case("engine steps as trials (naive)", "20,000 steps, 900 requests", 0.0, 0.25, _steps(False), 100, 500, True)
