"""Anchors by k-means, in blocks of rows: Lloyd's algorithm from points of the sample."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from harness import kernels
from harness.kernels.gaussian import squared_norms


def move_to_means(X: np.ndarray, anchors: np.ndarray, center: np.ndarray, rounds: int) -> None:
    """Move anchors to the means of the points that are nearest to them, in place.

    It ends where no anchor moves. An anchor that is nearest to no point stays.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    anchors : ndarray of shape (m, d), float32
        Less the center.
    center : ndarray of shape (d,)
    rounds : int
        Iterations of Lloyd's algorithm at most.
    """
    m, d = anchors.shape
    for _ in range(rounds):
        sums, counts = np.zeros((m, d)), np.zeros(m)
        half_norms = squared_norms(anchors) / 2
        for block in kernels.row_blocks(len(X), m + 3 * d, 4):
            rows = kernels.centered(X[block], center)
            far = rows @ anchors.T
            far -= half_norms
            own = far.argmax(axis=1)
            del far
            starts = np.arange(len(rows) + 1)
            members = csr_array((np.ones(len(rows), np.float32), own, starts), (len(rows), m))
            sums += members.T @ rows
            counts += np.bincount(own, minlength=m)
            del rows, members
        sums /= np.maximum(counts, 1)[:, None]
        moved = sums.astype(np.float32)
        del sums
        unused = counts == 0
        moved[unused] = anchors[unused]
        if np.array_equal(moved, anchors):
            break
        anchors[:] = moved
        # or they would stand beside the sums of the next round
        del moved


def moving_bytes(n: int, m: int, n_features: int) -> int:
    """Bytes that `move_to_means` holds: sums, a block's or means in float32, and a block."""
    return 12 * m * (n_features + 2) + kernels.stream_bytes(n, m + 3 * n_features, 4)
