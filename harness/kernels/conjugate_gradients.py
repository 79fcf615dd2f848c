"""Conjugate gradients for several right sides at once, whose products with A are shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Iterations:
    """Where conjugate gradients ended.

    Attributes
    ----------
    solution : ndarray of shape (n, Q)
    n_iter : int
        Products with A.
    residual : float
        Largest norm of a column of what is left of the right side, in parts of that column's.
    """

    solution: np.ndarray
    n_iter: int
    residual: float


def conjugate_gradients(
    multiply: Product,
    right: np.ndarray,
    tol: float,
    max_iter: int,
    precondition: Product | None = None,
) -> Iterations:
    """Solve A x = right for a symmetric positive definite A (Hestenes & Stiefel 1952).

    Holds `conjugate_gradient_bytes`, the right side and the solution included.

    Parameters
    ----------
    multiply : callable (n, Q) -> (n, Q)
        A times vectors in float64.
    right : ndarray of shape (n, Q), float64
        Used up.
    tol : float
        A column is at its end when its residual is so small, in parts of its right side.
    max_iter : int
        Products with A at most.
    precondition : callable (n, Q) -> (n, Q), optional
        An approximate inverse of A, symmetric and positive definite, times vectors.
    """
    r, x = right, np.zeros_like(right)
    size = _norms(r)
    z = r if precondition is None else precondition(r)
    p, rho, done = z.copy(), _products(r, z), 0
    for done in range(max_iter + 1):
        left = (_norms(r) > tol * size) & (rho > 0)
        if done == max_iter or not left.any():
            break
        q = multiply(p)
        curvature = _products(p, q)
        # rounding may leave nothing of a direction
        left &= curvature > 0
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=left)
        q *= step
        r -= q
        np.multiply(p, step, out=q)
        x += q
        del q
        z = r if precondition is None else precondition(r)
        before, rho = rho, _products(r, z)
        p *= np.divide(rho, before, out=np.zeros_like(rho), where=left)
        p += z
    parts = np.divide(_norms(r), size, out=np.zeros_like(size), where=size > 0)
    return Iterations(x, done, float(parts.max(initial=0)))


def conjugate_gradient_bytes(n: int, n_columns: int, preconditioned: bool = False) -> int:
    """Bytes of the vectors that are held: right side, solution, direction and its product."""
    return 8 * n * n_columns * (5 if preconditioned else 4)


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(_products(vectors, vectors))


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", left, right)
