"""The eigensystem of the Nystrom approximation of L = D^-1/2 K D^-1/2, and what it holds.

With features z of the landmarks the approximation is A A', of rows z / sqrt(D), and A'A has its
nonzero eigenvalues. No sum is divided by an eigenvalue of W: what float32 loses of a sum would be
an eigenvalue of L then.
"""

from __future__ import annotations

import numpy as np

from harness import Arrays, beside, kernels

# Where eigenvalues of L, of which the largest is 1, are dropped.
_TOLERANCE = 1e-6

LEAST_PIVOT = 1e-6
"""Landmarks of which the others leave less than this part are dropped: their features would be
rounding, as large as the root of this at the most."""


def one_shot_eigensystem(
    X: np.ndarray,
    features: kernels.LandmarkFeatures,
    degrees: np.ndarray | None,
    most: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues e of L, descending, and M such that k(x, Z) M is a row of D^1/2 U.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    features : LandmarkFeatures
        Of the landmarks Z.
    degrees : ndarray of shape (n,) or None
        D; None for those of the Nystrom kernel, at least 1.
    most : int or None
        How many are kept; None for all that stand out from rounding.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    basis : ndarray of shape (s, k), float32
    """
    # symmetric: transposed it is in C order, and not copied
    eigenvalues, V = kernels.eigensystem(_degree_normalised_gram(X, features, degrees).T)
    kept = min(most or len(eigenvalues), int(np.sum(eigenvalues > _TOLERANCE)))
    V = V[:, :kept]
    V /= np.sqrt(eigenvalues[:kept])
    return eigenvalues[:kept], features.expansion(V)


def _degree_normalised_gram(
    X: np.ndarray, features: kernels.LandmarkFeatures, degrees: np.ndarray | None
) -> np.ndarray:
    """Return the sum of z z' / D."""
    total = features.total(X) if degrees is None else None
    gram = kernels.GramSum(features.n_components)
    buffer = features.block_buffer(len(X))
    for block in features.blocks(len(X)):
        Z = features.transform(X[block], buffer[: block.stop - block.start])
        D = np.maximum(Z @ total, 1) if degrees is None else degrees[block]
        Z /= np.sqrt(D, dtype=np.float32)[:, None]
        gram.add(Z)
    del buffer, Z  # the total is twice as many pages
    return gram.total()


def one_shot_phases(n: int, s: int, d: int, itemsize: int, degrees: str) -> dict[str, Arrays]:
    """Return what is held phase by phase, with degrees of that kind."""
    of_degrees = {
        "nystrom": {},
        "exact": {"degrees": 8 * n, "tile": kernels.tile_bytes(n, d)},
        "features": {"degrees": 8 * n, "fourier": 2 * s * d},
    }
    features = Arrays(landmark_features=kernels.LandmarkFeatures.bytes(s, d))
    block = kernels.LandmarkFeatures.block_bytes(n, s, d, itemsize, picked=False)
    phases = {
        "landmark features": Arrays(
            building=kernels.LandmarkFeatures.building_bytes(s, d, itemsize)
        ),
        "Gram matrix": features
        + Arrays(
            gram=kernels.GramSum.bytes(s), features=block, panel=kernels.GramSum.panel_bytes(s)
        ),
        "eigensystem": features + kernels.eigen_arrays(s),
    }
    return beside(of_degrees[degrees], phases)
