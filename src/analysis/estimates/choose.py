"""Which method: chosen by what data exist; the Estimate's `picked` says which was taken and why."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from analysis.estimates import compare as arms
from analysis.estimates import quantile_buckets, quantile_values, ratio_requests, tails
from analysis.estimates.buckets import Buckets
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.estimates.inputs import Floats, floats, problem
from analysis.estimates.ratio_page import PageShare, share_from_sums_only
from analysis.estimates.ratio_scrapes import Windows, share_from_scrapes


def share(
    *,
    windows: Windows | None = None,
    requests: tuple[ArrayLike, ArrayLike] | None = None,
    cluster: ArrayLike | None = None,
    page: PageShare | None = None,
    sums: tuple[float, float] | None = None,
) -> Estimate:
    """A share of sums from the best data there are.

    In order: a series of scrapes (`windows`, the only one that can see drift), with the independent interval of
    `requests` or `page` beside it; per-request (part, rest), by `cluster` where known; one `page`; two `sums`. A method
    that refuses for lack of data hands on to the next, but what is known to be clustered is never taken as independent.
    """
    each = None if requests is None else ratio_requests.share_of_requests(*requests)
    independent = each if each is not None and each.low is not None else (page.estimate if page else None)
    offers: list[tuple[str, Estimate]] = []
    if windows is not None:
        offers.append(("scrapes: they alone show drift of the traffic", share_from_scrapes(windows, independent)))
    if requests is not None and cluster is not None:
        grouped = ratio_requests.share_of_requests(*requests, cluster)
        offers.append(("requests by run: requests of one run are alike", grouped))
        return _first(offers, "1", "no requests")
    if each is not None:
        offers.append(("requests: per-request values exist, no clusters known", each))
    if page is not None:
        offers.append(("one page: its buckets and sums are all there is", page.estimate))
    if sums is not None:
        offers.append(("two sums: nothing else exists", share_from_sums_only(*sums)))
    return _first(offers, "1", "no scrapes, requests, histograms or sums")


def quantile(
    q: float,
    unit: str,
    *,
    values: ArrayLike | None = None,
    block: ArrayLike | None = None,
    buckets: Buckets | None = None,
    n_of: str = "requests",
) -> Estimate:
    """A quantile from the best data there are: values in blocks (then nothing else), values, buckets."""
    offers: list[tuple[str, Estimate]] = []
    if values is not None and block is not None:
        offers.append(
            ("values in blocks: neighbours share their luck", tails.quantile_of_blocked(values, block, q, unit))
        )
    if values is not None and block is None:
        offers.append(("values: taken as independent", quantile_values.quantile(values, q, unit, n_of=n_of)))
    if buckets is not None and (values is None or block is None):
        offers.append(("buckets: no values exist", quantile_buckets.quantile(buckets, q, unit, n_of=n_of)))
    return _first(offers, unit, "no values and no histogram")


def compare(
    a: ArrayLike,
    b: ArrayLike,
    *,
    session_a: list[str] | None = None,
    session_b: list[str] | None = None,
    margin: float | None = None,
    family: int = 1,
) -> Estimate:
    """The ratio of two arms, a over b: paired by session where at least two sessions ran both, else Welch.

    Several runs of an arm in one session become their geometric mean. `family`: see estimates/compare.py.
    """
    x, y = floats(a), floats(b)
    first, second = session_a or [], session_b or []
    if any(names and len(names) != len(values) for names, values in ((first, x), (second, y))):
        return no_interval(None, "x", "none", "sessions: not one for each run", n_of="runs")
    both = sorted(set(first) & set(second))
    if len(both) >= 2 and problem("runs", x, positive=True) is None and problem("runs", y, positive=True) is None:
        of_a, of_b = (_means(values, names, both) for values, names in ((x, first), (y, second)))
        got = arms.compare(of_a, of_b, paired=True, margin=margin, family=family)
        left = len(x) + len(y) - sum(names.count(s) for names in (first, second) for s in both)
        unused = f"; {left} runs of sessions without the other arm left out" if left else ""
        return replace(got, n_of="pairs of sessions", picked=f"paired: {len(both)} sessions ran both arms{unused}")
    got = arms.compare(x, y, margin=margin, family=family)
    if first and second and not both:
        got = got.with_warnings(
            "each arm ran in its own sessions: the session is inside the difference; interleave arms"
        )
    return replace(got, picked="unpaired: fewer than two sessions ran both arms")


def _means(values: Floats, names: list[str], sessions: list[str]) -> Floats:
    """The geometric mean of each session."""
    return np.array([np.exp(np.log(values[[n == s for n in names]]).mean()) for s in sessions])


def _first(offers: list[tuple[str, Estimate]], unit: str, missing: str) -> Estimate:
    """The first offer with an interval; else the last with a value, whose reason is the plainest; others are named."""
    if not offers:
        return not_computable(unit, missing)
    usable = next((o for o in offers if o[1].low is not None or o[1].high is not None), None)
    why, got = usable or next((o for o in reversed(offers) if o[1].value is not None), offers[0])
    passed = [f"{name.split(':')[0]} ({e.reason})" for name, e in offers if e is not got and e.low is None and e.reason]
    return replace(got, picked=why + (f"; not {', not '.join(passed)}" if passed else ""))
