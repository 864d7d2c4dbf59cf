"""Made-up services whose true figures are known: prefill and decode seconds, drifting mixes, scrapes, engine steps."""

from dataclasses import dataclass
from math import exp, inf

import numpy as np

from analysis.estimates.buckets import Buckets

LATENCY_EDGES = np.array(
    [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680, inf]
)
TTFT_EDGES = np.array(
    [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, inf]
)
LENGTH_EDGES = np.array([*(b * 10**k for k in range(6) for b in (1, 2, 5)), inf])


def histogram(values: np.ndarray, edges: np.ndarray = LATENCY_EDGES) -> Buckets:
    """The values as an exporter would show them."""
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges)).astype(float)
    return Buckets(edges, counts, float(values.sum()))


@dataclass(frozen=True)
class Mix:
    """Chat and documents: log-normal prefill and decode as (median, sigma), a share of documents, a shared slowdown."""

    documents: float = 0.3
    chat_prefill: tuple[float, float] = (0.2, 0.6)
    chat_decode: tuple[float, float] = (6.0, 0.8)
    document_prefill: tuple[float, float] = (3.0, 0.7)
    document_decode: tuple[float, float] = (9.0, 0.7)
    slowdown: float = 0.0

    @staticmethod
    def _mean(law: tuple[float, float]) -> float:
        return law[0] * exp(law[1] ** 2 / 2)

    @property
    def share(self) -> float:
        """The true share of prefill in prefill + decode seconds."""
        d = self.documents
        x = (1 - d) * self._mean(self.chat_prefill) + d * self._mean(self.document_prefill)
        y = (1 - d) * self._mean(self.chat_decode) + d * self._mean(self.document_decode)
        return x / (x + y)

    def draw(self, rng: np.random.Generator, n: int, is_document: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        """Prefill and decode seconds of n requests."""
        document = rng.random(n) < self.documents if is_document is None else is_document
        z = rng.standard_normal((3, n))
        laws = [np.where(document, d, c) for c, d in zip(
            (*self.chat_prefill, *self.chat_decode), (*self.document_prefill, *self.document_decode), strict=True
        )]  # fmt: skip
        slow = np.exp(self.slowdown * z[2])
        return laws[0] * np.exp(laws[1] * z[0]) * slow, laws[2] * np.exp(laws[3] * z[1]) * slow


MIXES = {
    "chat and documents": Mix(),
    "heavy prefill tail": Mix(document_prefill=(2.0, 1.3)),
    "shared slowdown": Mix(slowdown=0.7),
    "documents answer briefly": Mix(document_decode=(1.5, 0.7)),
    "chat only": Mix(documents=0.0),
    # Two thirds of the prefill times below the first edge, as on fast engines, and a few very long prompts.
    "fast prefill, heavy tail": Mix(chat_prefill=(0.1, 0.7), document_prefill=(1.5, 1.3)),
}


def ar1(rng: np.random.Generator, steps: int, phi: float) -> np.ndarray:
    """A stationary AR(1) series of unit variance."""
    noise = rng.standard_normal(steps) * np.sqrt(1 - phi**2)
    out = np.empty(steps)
    value = rng.standard_normal()
    for i, e in enumerate(noise):
        value = phi * value + e
        out[i] = value
    return out


@dataclass(frozen=True)
class Drift:
    """A mix whose share of documents drifts on the log-odds with correlation time tau_s; scraped every 15 s."""

    hours: float
    tau_s: float
    per_hour: float = 401.0
    swing: float = 1.0
    step_s: float = 15.0

    def documents(self, rng: np.random.Generator) -> np.ndarray:
        """The share of documents in each window."""
        k = round(self.hours * 3600 / self.step_s)
        drift = ar1(rng, k, exp(-self.step_s / self.tau_s)) if self.tau_s else np.zeros(k)
        return 1 / (1 + np.exp(-(self.swing * drift * (self.tau_s > 0) - 0.8473)))

    @property
    def share(self) -> float:
        """The true share: the mean document share over the stationary law of the drift."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        swing = self.swing if self.tau_s else 0.0
        return Mix(documents=float((weights / (1 + np.exp(0.8473 - swing * nodes))).sum() / weights.sum())).share

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Window of each request, prefill, decode; requests are booked where they finish."""
        p = self.documents(rng)
        window = np.repeat(np.arange(len(p)), rng.poisson(self.per_hour * self.step_s / 3600, len(p)))
        x, y = Mix().draw(rng, len(window), rng.random(len(window)) < p[window])
        return window, x, y, np.arange(len(p)) * self.step_s


def engine_steps(
    rng: np.random.Generator, steps: int, rate: float, mean_steps: float = 180.0, warm: int = 2000
) -> tuple[np.ndarray, int]:
    """Requests running in each step (arrivals per step Poisson, lives geometric), and how many requests arrived."""
    arrivals = rng.poisson(rate, steps + warm)
    start = np.repeat(np.arange(steps + warm), arrivals)
    end = np.minimum(start + rng.geometric(1 / mean_steps, len(start)), steps + warm)
    change = np.bincount(start, minlength=steps + warm + 1) - np.bincount(end, minlength=steps + warm + 1)
    return np.cumsum(change)[warm : warm + steps], int((start >= warm).sum())
