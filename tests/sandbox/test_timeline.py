"""Samples are thinned to a picture's size, and lose no extreme by it."""

import numpy as np
import pytest

from harness.sandbox.timeline import thin


@pytest.mark.parametrize("n", [201, 1000, 7919])
def test_thinned_samples_keep_order_ends_in_time_and_extremes(n):
    generator = np.random.default_rng(n)
    seconds = np.cumsum(generator.exponential(size=n)).tolist()
    sizes = generator.integers(0, 10**9, size=n).tolist()
    samples = list(zip(seconds, sizes, strict=True))
    kept = thin(samples)
    assert len(kept) <= 200
    assert kept == sorted(set(kept))
    assert set(kept) <= set(samples)
    for extreme in (min, max):
        assert extreme(size for _, size in kept) == extreme(sizes)
    spike = [(at, 7) for at in seconds]
    spike[n // 2] = (seconds[n // 2], 10**9)
    assert spike[n // 2] in thin(spike)


def test_few_samples_and_samples_of_one_moment_stay_as_they_are():
    few = [(0.1, 5), (0.2, 3)]
    assert thin(few) == few
    assert thin([(1.0, size) for size in range(5)], most=2) == [(1.0, 0), (1.0, 4)]
