"""Linear support vector machines on explicit features, one against the rest.

What scikit-learn's `LinearSVC` solves, but for the bias, which is not penalised here, in a small
part of its memory: LIBLINEAR needs features in float64 and copies them to 16 bytes each.
"""

from __future__ import annotations

import numpy as np

from harness.kernels.labels import Labels
from harness.kernels.products import LinearProduct
from harness.kernels.squared_hinge import Expansion, HingeLosses, minimise


def train_linear_machines(
    F: np.ndarray, labels: Labels, C: float, tol: float = 1e-4
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise |w|^2 / 2 + C sum_i max(0, 1 - y_i (w'F_i + b))^2 for each class.

    Parameters
    ----------
    F : ndarray of shape (n_labeled, k)
        Features of the labeled points, float32 or float64; not copied.
    labels : Labels
    C : float
    tol : float, default 1e-4
        Excess over the minimum, in parts of it.

    Returns
    -------
    weights : ndarray of shape (k, n_classes), or (k, 1) for two classes
        Of the type of F.
    intercepts : ndarray of shape (n_classes,) or (1,)
        A class without a labeled point has no weights and the intercept -1, below all others.
    """
    product = LinearProduct(F)
    targets = labels.targets()
    weights = np.zeros((F.shape[1], targets.shape[1]), F.dtype)
    intercepts = np.full(targets.shape[1], -1.0)
    for j, target in enumerate(targets.T):
        if np.ptp(target):
            losses = HingeLosses(C * (target > 0), C * (target < 0))
            machine = minimise(product, Expansion.zero(product.n), losses, tol)
            weights[:, j] = product.weights(machine.coefficients)
            intercepts[j] = machine.bias
    return weights, intercepts
