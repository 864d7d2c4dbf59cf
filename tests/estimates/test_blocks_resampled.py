"""The block bootstrap's shortcuts give what its definition gives."""

import numpy as np
import pytest

from analysis.estimates import tails


@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (3, 3), (50, 10), (199, 20), (200, 20), (201, 20), (1000, 40), (900, 400)]
)
@pytest.mark.parametrize("q", [0.05, 0.5, 0.95, 0.99])
def test_each_draw_is_the_quantile_of_its_blocks(n: int, k: int, q: float) -> None:
    rng = np.random.default_rng(n)
    x = np.round(rng.lognormal(size=n), 2)  # with ties
    block = np.unique(rng.integers(k, size=n), return_inverse=True)[1]
    blocks = int(block.max()) + 1
    weights = tails._weights(blocks, tails.RESAMPLES, np.random.default_rng(0))
    wanted = [np.quantile(np.repeat(x, w[block]), q, method="inverted_cdf") for w in weights[:50]]
    assert list(tails._resampled(x, block, q, np.random.default_rng(0))[:50]) == wanted


@pytest.mark.parametrize("k", [7, tails._MANY, 1000])
def test_whole_blocks_are_drawn_with_replacement(k: int) -> None:
    weights = tails._weights(k, 4000, np.random.default_rng(1))
    assert weights.shape == (4000, k)
    assert set(weights.sum(axis=1)) == {k}
    assert abs(weights.mean() - 1) < 1e-12
    assert weights.var(axis=0).mean() == pytest.approx(1 - 1 / k, rel=0.03)  # of a binomial of k trials at 1/k
