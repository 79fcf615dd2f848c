"""Rows that stand for all."""

import numpy as np
import pytest
from mssksc.feature_blocks import spread_rows


@pytest.mark.parametrize(("n", "size"), [(10, 10), (10, 3), (1000, 7), (5, 9)])
def test_spread_rows_are_one_of_each_stretch(n, size):
    rows = spread_rows(n, size, np.random.RandomState(0))
    size = min(n, size)
    assert (np.diff(rows) >= 0).all()
    edges = np.arange(size + 1) * n / size
    assert (rows >= np.floor(edges[:-1])).all()
    assert (rows < edges[1:]).all()
