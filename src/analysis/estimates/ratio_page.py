"""Assumption: requests are independent and of one traffic mix. A share of sums from one page, or from a difference."""

from dataclasses import replace
from math import inf, isfinite, sqrt
from typing import NamedTuple

from analysis.estimates.buckets import Buckets, m2_bounds, m2_mid
from analysis.estimates.clusters import t_quantile
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import CONFIDENCE, ROUNDING, logit_ends

ASSUMPTION = "requests are independent and of one traffic mix; one cumulative page cannot test this"
LEAST_N, LEAST_N_IDENTITY = 8, 100
"""Below 8 requests only the census is printed; below 100 the correlation is taken at its worst."""
COARSE_SHARE = 0.5
"""More of the values than this in one bucket: their spread inside it decides, and is not known."""
EARLY_SHARE = 0.05
"""More requests still running than this share of the finished ones: long requests are missing from the sums."""
DESIGN_EFFECTS = (2, 5)


class PageShare(NamedTuple):
    """The share of the requests counted, of the service, and the interval that no spread inside the buckets beats."""

    census: Estimate
    estimate: Estimate
    bound: Estimate


class _Variances(NamedTuple):
    part: float
    rest: float
    whole: float | None


def share_of_sums(
    part: Buckets, rest: Buckets, whole: Buckets | None = None, *, running: float | None = None
) -> PageShare:
    """The share R = sum(part) / (sum(part) + sum(rest)) over requests, for example prefill of inference time.

    `part` and `rest` are histograms over the same requests; `whole` is the histogram of part + rest of each request,
    which settles the correlation between the two: Var(Z) = (1-R) Var(part) + R Var(rest) - R(1-R) Var(whole) for
    Z = (1-R) part - R rest. `running` is the number of requests in flight at the page. Refuses (with the reason) what
    contradicts itself, fewer than 8 requests, and a share of 0 or 1. Buckets that are of no use (no +Inf bucket) leave
    the share of the sums, without an interval.
    """
    named = {name: of for name, of in (("part", part), ("rest", rest), ("whole", whole)) if of is not None}
    if useless := [f"{name}: {why}" for name, of in named.items() if (why := of.bucket_problem()) is not None]:
        value = share_from_sums_only(part.total, rest.total).value
        refused = no_interval(value, "1", "ratio of sums", "; ".join(useless))
        return PageShare(refused, refused, replace(refused, value=None))
    broken = _contradiction(part, rest, whole)
    if broken is not None:
        refused = no_interval(None, "1", "none", broken)
        return PageShare(refused, refused, refused)
    n, total = part.n, part.total + rest.total
    share = part.total / total
    warnings = _warnings(part, rest, running)
    census = Estimate(
        share, "1", "census", "ratio of sums", n=n, n_of="requests", assumption="these requests only",
        warnings=warnings,
    )  # fmt: skip
    reason = "fewer than 8 requests" if n < LEAST_N else None
    if share in (0.0, 1.0):
        reason = f"the share is exactly {share:g}"
    if reason is not None:
        refused = no_interval(share, "1", "ratio of sums", reason, n=n, n_of="requests", warnings=warnings)
        return PageShare(census, refused, refused)
    method, variance = _variance(part, rest, whole, share)
    if whole is None:
        warnings = (*warnings, "correlation unknown, worst case")
    estimate = _estimate("estimate", method, share, variance, n, total, warnings)
    widest = max(_largest_variance(part, rest, whole, share), variance)
    bound = _estimate("bound", "largest spread the buckets allow", share, widest, n, total, warnings)
    return PageShare(census, estimate, bound)


def share_from_sums_only(part_sum: float, rest_sum: float, n: int | None = None) -> Estimate:
    """The share where only sums exist: a value, never an interval (two sums hold nothing about their spread)."""
    total = part_sum + rest_sum
    if not isfinite(total) or part_sum < 0 or rest_sum < 0 or total <= 0:
        return no_interval(None, "1", "none", "the sums are missing, negative or zero")
    return no_interval(
        part_sum / total, "1", "ratio of sums", "sums only, no buckets", n=n, n_of="requests", assumption=ASSUMPTION
    )


def _contradiction(part: Buckets, rest: Buckets, whole: Buckets | None) -> str | None:
    named = [("part", part), ("rest", rest)] + ([("whole", whole)] if whole is not None else [])
    for name, buckets in named:
        if (why := buckets.problem()) is not None:
            return f"{name}: {why}"
    if len({b.n for _, b in named}) > 1:
        return "the histograms count different numbers of requests: " + ", ".join(f"{k} {b.n}" for k, b in named)
    if part.n == 0:
        return "no requests"
    total = part.total + rest.total
    if total <= 0:
        return "both sums are zero"
    if whole is not None and abs(whole.total - total) > ROUNDING * total:
        return "the sum of the whole is not the sum of the parts"
    return None


def _warnings(part: Buckets, rest: Buckets, running: float | None) -> tuple[str, ...]:
    found = []
    if running is not None and running > EARLY_SHARE * part.n:
        found.append(f"early: {running:g} requests were still running against {part.n} finished; long ones are missing")
    found += [
        f"open top bucket: {b.open_top} requests above {b.lower[-1]:g}; their spread is only known from the sum"
        for b in (part, rest)
        if b.open_top
    ]
    return tuple(found)


def _variance(part: Buckets, rest: Buckets, whole: Buckets | None, share: float) -> tuple[str, float]:
    """Method and Var(Z): the wider of the identity and no correlation.

    The worst correlation where n is small, and where most values of a phase share one bucket: what spread they have
    inside it is then a guess (one tilt for all buckets), and in simulations a guess that is too small.
    """
    v = _Variances(*(None if b is None else _spread(b, m2_mid(b)) for b in (part, rest, whole)))  # type: ignore[arg-type]
    coarse = max(part.counts.max(), rest.counts.max()) > COARSE_SHARE * part.n
    if v.whole is None or part.n < LEAST_N_IDENTITY or coarse:
        return "bucket spread, correlation -1", _opposed(v, share)
    return "bucket spread, wider of three-histogram identity and no correlation", max(
        _identity(v, share), (1 - share) ** 2 * v.part + share**2 * v.rest
    )


def _largest_variance(part: Buckets, rest: Buckets, whole: Buckets | None, share: float) -> float:
    """The largest Var(Z) the buckets and sums allow, whatever the requests inside the buckets were."""
    widest = _Variances(
        _spread(part, m2_bounds(part)[1]),
        _spread(rest, m2_bounds(rest)[1]),
        None if whole is None else _spread(whole, m2_bounds(whole)[0]),
    )
    return min(_opposed(widest, share), inf if widest.whole is None else _identity(widest, share))


def _spread(b: Buckets, squares: float) -> float:
    return max(squares - b.total**2 / b.n, 0.0) / (b.n - 1)


def _opposed(v: _Variances, share: float) -> float:
    return ((1 - share) * sqrt(v.part) + share * sqrt(v.rest)) ** 2


def _identity(v: _Variances, share: float) -> float:
    assert v.whole is not None
    return (1 - share) * v.part + share * v.rest - share * (1 - share) * v.whole


def _estimate(
    kind: str, method: str, share: float, variance: float, n: int, total: float, warnings: tuple[str, ...]
) -> Estimate:
    if variance <= 0:
        return no_interval(share, "1", method, "the buckets show no spread", n=n, n_of="requests", warnings=warnings)
    se = sqrt(variance / n) / (total / n * share * (1 - share))
    t = t_quantile(n - 1)
    low, high = logit_ends(share, se, t)
    return Estimate(
        share, "1", "bound" if kind == "bound" else "estimate", f"{method}; delta method on the log-odds",
        low, high, CONFIDENCE, n, "requests", ASSUMPTION, warnings=warnings,
        sensitivity={f"design effect {d}": logit_ends(share, se * sqrt(d), t) for d in DESIGN_EFFECTS},
    )  # fmt: skip
