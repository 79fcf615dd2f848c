"""Transfer functions: what a cluster kernel makes of the eigenvalues of L = D^-1/2 K D^-1/2.

Chapelle, Weston & Scholkopf 2002. Eigenvalues come in descending order and lie in [0, 1]; each
function returns as many, nonnegative.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal, get_args

import numpy as np

from harness.estimator import Estimator, PositiveFloat, PositiveInt

Transfer = Literal["linear", "step", "polynomial", "poly-step", "regularized-laplacian"]
TRANSFERS = get_args(Transfer)


def linear(eigenvalues: np.ndarray) -> np.ndarray:
    """Leave eigenvalues as they are: a cluster kernel of K with unit diagonal is then K."""
    return np.maximum(eigenvalues, 0)


def step(eigenvalues: np.ndarray, cut: int) -> np.ndarray:
    """Give the first `cut` eigenvalues one, the rest nothing: spectral clustering's features."""
    return (np.arange(len(eigenvalues)) < cut).astype(float)


def polynomial(eigenvalues: np.ndarray, degree: float) -> np.ndarray:
    """Raise eigenvalues to a power: `degree` steps of a random walk."""
    return np.maximum(eigenvalues, 0) ** degree


def poly_step(eigenvalues: np.ndarray, h: int) -> np.ndarray:
    """Take square roots of the first h - 1 eigenvalues and square the others.

    Hou, Zhang & Zhou 2017, equation 1, which counts from one and writes i < h strictly, with
    h = n_labeled + 9.
    """
    eigenvalues = np.maximum(eigenvalues, 0)
    return np.where(np.arange(1, len(eigenvalues) + 1) < h, np.sqrt(eigenvalues), eigenvalues**2)


def regularized_laplacian(eigenvalues: np.ndarray, epsilon: float = 0.3) -> np.ndarray:
    """Return 1 / (1 + epsilon - e) - 1 / (1 + epsilon), which is 0 at 0.

    The inverse of the normalised Laplacian plus epsilon, less its multiple of the identity. That
    tells no two points alike, but it would be most of the norm of a point with few neighbours, and
    as features it would give every direction that is almost noise a weight of its own. The smaller
    epsilon is, the more the first eigenvectors stand out.
    """
    return 1 / (1 + epsilon - np.clip(eigenvalues, 0, 1)) - 1 / (1 + epsilon)


def default_cut(n_labeled: int) -> int:
    """Return how many eigenvalues come before the step of Hou, Zhang & Zhou 2017."""
    return n_labeled + 8


def apply_transfer(
    eigenvalues: np.ndarray,
    transfer: str,
    n_labeled: int,
    epsilon: float = 0.3,
    degree: float = 2.0,
    cut: int | None = None,
) -> np.ndarray:
    """Apply a transfer function by name.

    Parameters
    ----------
    eigenvalues : ndarray
        In descending order.
    transfer : str
        One of `TRANSFERS`.
    n_labeled : int
        Sets where "step" and "poly-step" cut if `cut` does not.
    epsilon : float, default 0.3
        For "regularized-laplacian".
    degree : float, default 2.0
        For "polynomial".
    cut : int, optional
        Eigenvalues before the step; n_labeled + 8 by default, as Hou, Zhang & Zhou have it.
    """
    cut = default_cut(n_labeled) if cut is None else cut
    if transfer == "linear":
        return linear(eigenvalues)
    if transfer == "step":
        return step(eigenvalues, cut)
    if transfer == "polynomial":
        return polynomial(eigenvalues, degree)
    if transfer == "poly-step":
        return poly_step(eigenvalues, cut + 1)
    return regularized_laplacian(eigenvalues, epsilon)


class TransferSettings(Estimator):
    """Settings of the transfer functions of a cluster kernel."""

    _: KW_ONLY
    epsilon: PositiveFloat = 0.3
    """eps of the regularised Laplacian. The smaller, the more clusters count: clusters without
    noise and a handful of labels want 0.05 or less.
    """
    degree: PositiveFloat = 2.0
    """Of the polynomial."""
    cut: PositiveInt | None = None
    """Eigenvalues before the step: "step" keeps them, "poly-step" takes their square roots. The
    paper's n_labeled + 8 by default.
    """

    def _transferred(self, eigenvalues: np.ndarray, transfer: str, n_labeled: int) -> np.ndarray:
        """Return what becomes of eigenvalues where so many points are labeled."""
        return apply_transfer(
            eigenvalues, transfer, n_labeled, self.epsilon, self.degree, self.cut
        )
