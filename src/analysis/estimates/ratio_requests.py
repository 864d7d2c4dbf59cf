"""Assumption: requests, or the clusters given, are independent. Ratios of sums from per-request values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.estimates.clusters import clustered_ratio, clustered_share
from analysis.estimates.estimate import Estimate, no_interval
from analysis.estimates.inputs import Floats, floats, problem

LEAST_REQUESTS, LEAST_CLUSTERS = 8, 3
"""Below these only the values themselves are shown."""


def share_of_requests(
    part: ArrayLike, rest: ArrayLike, cluster: ArrayLike | None = None, cluster_name: str = "runs"
) -> Estimate:
    """The share sum(part) / sum(part + rest): delta method on the log-odds, t with n - 1.

    `cluster` (labels of runs or sessions) makes whole clusters the units. Refuses fewer than 8 requests or 3 clusters.
    """
    x, y = floats(part), floats(rest)
    labels, n_of, why = _units(x, y, cluster, cluster_name)
    if why is None and (x + y).sum() <= 0:
        why = "both sums are zero"
    if why is not None:
        value = float(x.sum() / (x + y).sum()) if why.startswith("fewer than") and (x + y).sum() > 0 else None
        return no_interval(value, "1", "ratio of sums", why, n=len(x), n_of="requests")
    return clustered_share(x, x + y, labels, n_of, f"{n_of} are independent, of one traffic mix")


def ratio_of_requests(
    top: ArrayLike, bottom: ArrayLike, unit: str, cluster: ArrayLike | None = None, cluster_name: str = "runs"
) -> Estimate:
    """The ratio sum(top) / sum(bottom), as computed prompt tokens over prefill seconds; on the logarithm."""
    x, y = floats(top), floats(bottom)
    labels, n_of, why = _units(x, y, cluster, cluster_name)
    if why is None and y.sum() <= 0:
        why = "the lower sum is zero"
    if why is not None:
        value = float(x.sum() / y.sum()) if why.startswith("fewer than") and y.sum() > 0 else None
        return no_interval(value, unit, "ratio of sums", why, n=len(x), n_of="requests")
    return clustered_ratio(x, y, labels, unit, n_of, f"{n_of} are independent, of one traffic mix")


def _units(
    x: Floats, y: Floats, cluster: ArrayLike | None, cluster_name: str
) -> tuple[NDArray[np.int64], str, str | None]:
    labels, n_of, least = np.arange(len(x)), "requests", LEAST_REQUESTS
    why = problem("requests", x, y)
    if cluster is not None:
        names = np.asarray(cluster).ravel()
        labels, n_of, least = np.unique(names, return_inverse=True)[1], cluster_name, LEAST_CLUSTERS
        why = why or ("requests: unequal lengths" if len(labels) != len(x) else None)
    if why is None and (found := len(np.unique(labels))) < least:
        why = f"fewer than {least} {n_of}" if found != 1 or n_of == "requests" else f"fewer than {least} {n_of}: one"
    return labels, n_of, why
