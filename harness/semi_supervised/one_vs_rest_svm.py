"""Support vector machines on a Gram matrix or on explicit features, one against the rest.

With features it is what scikit-learn's `LinearSVC` solves, but for the bias, which is not
penalised here, in a small part of its memory: LIBLINEAR copies features to 16 bytes each.
"""

from __future__ import annotations

import numpy as np

from harness.semi_supervised.kernel_operators import KernelProduct, LinearProduct
from harness.semi_supervised.labels import Labels
from harness.semi_supervised.squared_hinge import Expansion, HingeLosses, minimise


def train_machines(
    kernel: KernelProduct, labels: Labels, C: float, tol: float = 3e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise |f|^2 / 2 + C sum_i max(0, 1 - y_i f(x_i))^2, f = sum_i a_i k(x_i, .) + b.

    Parameters
    ----------
    kernel : KernelProduct
        Of the labeled points.
    labels : Labels
    C : float
    tol : float, default 3e-5
        Excess over the minimum, in parts of it or of |f|^2 / 2 if that is less.

    Returns
    -------
    coefficients : ndarray of shape (n_labeled, n_classes), or (n_labeled, 1) for two classes
        a of each class against the rest.
    intercepts : ndarray of shape (n_classes,) or (1,)
        A class without a labeled point has no coefficients and -1, which is not always below all
        others: see `as_decision`.
    """
    targets = labels.targets()
    coefficients, intercepts = np.zeros(targets.shape), np.full(targets.shape[1], -1.0)
    for j, target in enumerate(targets.T):
        if np.ptp(target):
            losses = HingeLosses(C * (target > 0), C * (target < 0))
            machine = minimise(kernel, Expansion.zero(kernel.n), losses, tol)
            coefficients[:, j], intercepts[j] = machine.coefficients, machine.bias
    return coefficients, intercepts


def machine_bytes(n: int, n_machines: int) -> int:
    """Bytes of the vectors that training machines on n rows holds, beside matrices.

    Of one machine at a time 21 of each row: Newton's, conjugate gradients', and losses. Of every
    machine its coefficients, its scores and its targets.
    """
    return 8 * n * (21 + 3 * n_machines)


def train_linear_machines(
    F: np.ndarray, labels: Labels, C: float, tol: float = 3e-5
) -> tuple[np.ndarray, np.ndarray]:
    """Do the same for the linear kernel of explicit features, which are not copied.

    Parameters
    ----------
    F : ndarray of shape (n_labeled, k)
        float32 or float64.
    labels, C, tol
        As in `train_machines`.

    Returns
    -------
    weights : ndarray of shape (k, n_classes), or (k, 1) for two classes
        Of the type of F.
    intercepts : ndarray of shape (n_classes,) or (1,)
    """
    product = LinearProduct(F)
    coefficients, intercepts = train_machines(product, labels, C, tol)
    return np.column_stack([product.weights(a) for a in coefficients.T]), intercepts
