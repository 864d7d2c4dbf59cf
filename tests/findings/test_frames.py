"""Lists of a column as arrays."""

import numpy as np
import polars as pl

from analysis.findings.frames import arrays


def test_lists_are_arrays_in_their_order() -> None:
    column = pl.Series([[1, 2], None, [], [3, None], [4]], dtype=pl.List(pl.Int64))
    found = arrays(column)
    assert [each.tolist() for each in (found[0], found[1], found[2], found[4])] == [[1.0, 2.0], [], [], [4.0]]
    assert found[3][0] == 3.0
    assert np.isnan(found[3][1])
    assert arrays(column.clear()) == []
    assert [len(each) for each in arrays(pl.Series([None, None], dtype=pl.List(pl.Float64)))] == [0, 0]
