"""The same for boots, arms, rates and tails; see coverage_cases."""

from collections.abc import Iterator

import numpy as np
from coverage_cases import Case, Draw, Interval, ends, percentiles
from scipy import stats
from simulated_traffic import ar1

from analysis.estimates import boots, compare, kv_slope, rates, tails
from analysis.estimates.share_edge import wilson


def _boots(n: int, law: str, what: str) -> Draw:
    def logs(rng: np.random.Generator, k: int) -> np.ndarray:
        if law == "normal":
            return 0.1 * rng.standard_normal(k)
        if law == "skewed":
            return 0.1 * rng.exponential(1.0, k)
        return 0.1 * (rng.random(k) < 0.5) + 0.01 * rng.standard_normal(k)

    sd = 0.1 if law != "two states" else float(np.sqrt(0.05**2 + 0.01**2))

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        seen = np.exp(logs(rng, n + 1))
        if what == "spread":
            return ends(boots.spread(seen[:n])), sd
        if what == "range":
            return ends(boots.seen_range(seen[:n], "tokens")), float(seen[n])
        if what == "normal z":
            x = np.log(seen[:n])
            return tuple(x.mean() + s * 1.96 * x.std(ddof=1) for s in (-1, 1)), float(np.log(seen[n]))  # type: ignore[return-value]
        return ends(boots.next_boot(seen[:n], "tokens")) or (0.0, np.inf), float(seen[n])

    return draw


def _spreads(n: int, rho: float) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        z = rng.standard_normal((2, n))
        return ends(
            boots.ratio_of_spreads(np.exp(0.3 * z[0]), np.exp(0.1 * (rho * z[0] + np.sqrt(1 - rho**2) * z[1])))
        ), 3.0

    return draw


def _kv(per_level: int, levels: int, what: str) -> Draw:
    x = np.repeat(np.linspace(8192, 16384, levels), per_level)

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        y = 60 - 1e-3 * x + 1.5 * rng.standard_normal(len(x))
        if what == "slope":
            return ends(kv_slope.slope(x, y, "GiB")), -1e-3
        return ends(kv_slope.predict(x, y, 12288.0, "GiB")), 60 - 12.288 + 1.5 * rng.standard_normal()

    return draw


def boot_cases() -> Iterator[Case]:
    """Spread, next boot, ratio of spreads, slope and prediction."""
    for n in (2, 3, 5, 10):
        yield Case("spread of boots", f"normal, n = {n}", 0.94, 0.96, _boots(n, "normal", "spread"), 800, 4000)
        yield Case("next boot", f"normal, n = {n}", 0.94, 0.96, _boots(n, "normal", "next"), 800, 4000)
        yield Case("next boot", f"skewed, n = {n}", 0.91, 0.95, _boots(n, "skewed", "next"), 800, 4000)
        p = (n - 1) / (n + 1)
        yield Case(
            "range of boots seen",
            f"skewed, n = {n}: (n − 1)/(n + 1) = {p:.2f}",
            p,
            p,
            _boots(n, "skewed", "range"),
            800,
            4000,
        )
    yield Case("spread of boots", "skewed, n = 10", 0.74, 0.80, _boots(10, "skewed", "spread"), 600, 4000)
    yield Case("next boot", "two states, n = 3", 0.84, 0.90, _boots(3, "two states", "next"), 600, 4000)
    yield Case("mean ± 1.96 sd (naive)", "normal, n = 3", 0.0, 0.85, _boots(3, "normal", "normal z"), 600, 4000, True)
    for n, rho in ((3, 0.0), (5, 0.9)):
        yield Case("ratio of spreads", f"n = {n}, ρ = {rho}", 0.94, 0.96, _spreads(n, rho), 600, 4000)
    for k, levels in ((2, 2), (5, 3)):
        for what in ("slope", "prediction"):
            yield Case(
                f"KV memory, {what}", f"{levels} levels, {k} boots each", 0.94, 0.96, _kv(k, levels, what), 600, 4000
            )


def _arms(n: int, design: str, true: float = 0.016) -> Draw:
    truth = 1 + true

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        session, run = 0.03 * rng.standard_normal((2, n)), 0.01 * rng.standard_normal((2, n))
        if design == "paired":
            session[1] = session[0]
        if design == "own session":
            session = np.repeat(session[:, :1], n, axis=1)
        a, b = np.exp(np.log(truth) + session[0] + run[0]), np.exp(session[1] + run[1])
        if design == "bootstrap":
            picks = rng.integers(0, n, (2, 300, n))
            return percentiles(np.exp(np.log(a)[picks[0]].mean(1) - np.log(b)[picks[1]].mean(1))), truth
        return ends(compare.compare(a, b, paired=design == "paired", margin=0.05)), truth

    return draw


def _false_equivalence(n: int) -> Draw:
    """Arms exactly one margin apart: covered means that equivalence was (rightly) not claimed."""

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        x = np.exp(0.01 * rng.standard_normal((2, n)))
        claimed = compare.compare(x[0] * 1.05, x[1], margin=0.05).verdict == "equivalent"
        return (1.0, 2.0) if claimed else (0.0, 1.0), 0.5

    return draw


def arm_cases() -> Iterator[Case]:
    """Comparison of two arms."""
    for n in (2, 3, 5):
        yield Case("arms, Welch", f"sessions mixed, {n} runs", 0.945, 0.99, _arms(n, "mixed"), 250, 2000)
        yield Case("arms, paired", f"{n} sessions", 0.93, 0.965, _arms(n, "paired"), 250, 2000)
    yield Case("arms, no false equivalence", "one margin apart, 5 runs", 0.94, 1.0, _false_equivalence(5), 250, 2000)
    yield Case("each arm in its own session (naive)", "5 runs", 0.0, 0.35, _arms(5, "own session"), 200, 1500, True)
    yield Case("bootstrap of runs (naive)", "3 runs", 0.0, 0.88, _arms(3, "bootstrap"), 400, 1500, True)


def _completions(clump: int, how: str) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        events = rng.poisson(200 / clump)
        at = np.repeat(rng.random(events) * 3600, clump)
        if how == "poisson":
            n = len(at)
            return (float(stats.chi2.ppf(0.025, 2 * n) / 2), float(stats.chi2.ppf(0.975, 2 * n + 2) / 2)), 200.0
        return ends(rates.rate_per_hour(at, 0.0, 3600.0)), 200.0

    return draw


def _misses(n: int, how: str) -> Draw:
    """Bursts of misses: a drifting probability whose mean over the drift is known by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float((weights / (1 + np.exp(-(1.5 + 1.5 * nodes)))).sum() / weights.sum())

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        ok = (rng.random(n) < 1 / (1 + np.exp(-(1.5 + 1.5 * ar1(rng, n, np.exp(-1 / 15)))))).astype(float)
        if how == "wilson":
            return wilson(float(ok.mean()), n), truth
        return ends(rates.goodput(ok, np.arange(n, dtype=float))[0]), truth

    return draw


def rate_cases() -> Iterator[Case]:
    """Completions per hour and goodput."""
    for clump in (1, 4):
        yield Case(
            "records per hour, block means", f"clumps of {clump}", 0.91, 0.97, _completions(clump, "blocks"), 600, 3000
        )
    yield Case("Poisson count (naive)", "clumps of 4", 0.0, 0.75, _completions(4, "poisson"), 400, 3000, True)
    for n, least in ((100, 0.66), (401, 0.85), (2000, 0.92)):
        yield Case(
            "goodput, wider of two",
            f"bursts of misses, n = {n}",
            least,
            1.0,
            _misses(n, "blocks"),
            250 if n < 2000 else 0,
            500,
        )
    yield Case(
        "Wilson on requests (naive)", "bursts of misses, n = 401", 0.0, 0.70, _misses(401, "wilson"), 200, 500, True
    )


def _blocked(blocks: int, q: float, how: str) -> Draw:
    """Chat TTFT in alternating blocks; a block has a level of its own, load makes everything 1.5 times slower."""
    sigma, level, per_block = 0.8, 0.3, 30
    z = float(np.sqrt(sigma**2 + level**2) * stats.norm.ppf(q))
    truth = (1.5 - 1.0) * 0.2 * float(np.exp(z))

    def draw(rng: np.random.Generator) -> tuple[Interval | None, float]:
        half = blocks // 2
        shift = np.repeat(level * rng.standard_normal((2, half)), per_block, axis=1)
        x = 0.2 * np.exp(shift + sigma * rng.standard_normal(shift.shape))
        label = np.repeat(np.arange(half), per_block)
        if how == "requests":
            label = np.arange(half * per_block)
        return ends(tails.quantile_difference(1.5 * x[0], label, x[1], label, q, "s")), truth

    return draw


def tail_cases() -> Iterator[Case]:
    """Quantiles of load-on against load-off blocks."""
    yield Case("median, paired blocks", "12 blocks", 0.90, 0.99, _blocked(12, 0.5, "blocks"), 300, 1000)
    yield Case("median, block bootstrap", "40 blocks", 0.88, 0.98, _blocked(40, 0.5, "blocks"), 40, 300)
    for blocks, least in ((40, 0.85), (80, 0.89)):
        yield Case(
            "p95, block bootstrap",
            f"{blocks} blocks",
            least,
            0.98,
            _blocked(blocks, 0.95, "blocks"),
            40 if blocks == 40 else 0,
            300,
        )
    yield Case(
        "bootstrap of requests (naive)", "p50, 40 blocks", 0.0, 0.85, _blocked(40, 0.5, "requests"), 12, 60, True
    )
