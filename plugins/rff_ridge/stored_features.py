"""Features of some points, kept in 32, 8 or 4 bits each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import kernels


class StoredFeatures:
    """Features between -bound and bound, rounded to one of 2^bits equally spaced numbers.

    Each is rounded up or down at random, so that its mean is what it was (Zhang et al. 2019,
    section 4). Of 4 bits two features share a byte: that of a point's first half with that of its
    second. Features of 32 bits are kept as they are.

    Parameters
    ----------
    n, m : int
        Points, and features; an even number.
    bits : {32, 8, 4}
    bound : float
    rng : numpy.random.Generator
    """

    def __init__(self, n: int, m: int, bits: int, bound: float, rng: np.random.Generator) -> None:
        self._bits, self._bound, self._rng, self._m = bits, np.float32(bound), rng, m
        self._step = np.float32(2 * bound / (2**bits - 1))
        kept = m // 2 if bits == 4 else m
        self._kept = np.empty((n, kept), np.float32 if bits == 32 else np.uint8)

    def put(self, block: slice, features: np.ndarray) -> None:
        """Keep the features of some points, float32 of shape (rows, m), which are used up."""
        if self._bits == 32:
            self._kept[block] = features
            return
        features += self._bound
        features /= self._step
        features += self._rng.random(features.shape, np.float32)
        # rounding of cosines may have left the range
        np.clip(features, 0, 2**self._bits - 1, out=features)
        if self._bits == 8:
            self._kept[block] = features
            return
        half, kept = self._m // 2, self._kept[block]
        np.floor(features, out=features)
        features[:, half:] *= 16
        features[:, :half] += features[:, half:]
        kept[...] = features[:, :half]

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of points and their features, float32, in the same array."""
        n, half = len(self._kept), self._m // 2
        step = kernels.block_rows(4 * self._m, 1)
        buffer = None if self._bits == 32 else np.empty((min(n, step), self._m), np.float32)
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            kept = self._kept[block]
            if buffer is None:
                yield block, kept
                continue
            Z = buffer[: len(kept)]
            if self._bits == 8:
                Z[...] = kept
            else:
                np.bitwise_and(kept, 15, out=Z[:, :half], casting="unsafe")
                np.right_shift(kept, 4, out=Z[:, half:], casting="unsafe")
            Z *= self._step
            Z -= self._bound
            yield block, Z
