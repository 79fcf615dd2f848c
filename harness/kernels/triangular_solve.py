"""Forward substitution for many right sides, at nearly the rate of a matrix product.

BLAS's strsm runs at half of that rate for the few hundred rows of a block. Here only diagonal
blocks are solved, by their inverses, and all else is products.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtri

PANEL = 128
"""Order of a diagonal block."""


class ForwardSubstitution:
    """Solves L z = k for the rows k of a matrix.

    Holds 4 r min(r, 128) bytes, the inverses of L's diagonal blocks: a matrix of that order is as
    well conditioned as the factor itself lets it be.

    Parameters
    ----------
    L : ndarray of shape (r, r), float32
        Lower triangular, without a zero on its diagonal.
    """

    def __init__(self, L: np.ndarray) -> None:
        self._L, r = L, len(L)
        self._inverses = np.zeros((r, min(r, PANEL)), np.float32)
        for start in range(0, r, PANEL):
            part = slice(start, min(start + PANEL, r))
            inverse, _ = dtrtri(
                L[part, part].astype(np.float64, order="F"), lower=1, overwrite_c=1
            )
            self._inverses[part, : len(inverse)] = inverse

    def solve_rows(self, K: np.ndarray) -> np.ndarray:
        """Replace each row k of K by L^-1 k; holds `substitution_bytes` for its rows.

        Parameters
        ----------
        K : ndarray of shape (n, r), float32
            C-contiguous.
        """
        L, n = self._L, len(K)
        buffer = np.empty(n * self._inverses.shape[1], np.float32)
        for start in range(0, len(L), PANEL):
            part = slice(start, min(start + PANEL, len(L)))
            inverse = self._inverses[part, : part.stop - start]
            right = buffer[: n * len(inverse)].reshape(n, -1)
            if start:
                np.matmul(K[:, :start], L[part, :start].T, out=right)
                np.subtract(K[:, part], right, out=right)
            else:
                right[...] = K[:, part]
            np.matmul(right, inverse.T, out=K[:, part])
        return K


def inverses_bytes(r: int) -> int:
    """Bytes that a `ForwardSubstitution` of order r holds."""
    return 4 * r * min(r, PANEL)


def substitution_bytes(n: int, r: int) -> int:
    """Bytes that `solve_rows` holds for n rows."""
    return 4 * n * min(r, PANEL)
