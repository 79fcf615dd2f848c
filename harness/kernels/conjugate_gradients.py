"""Conjugate gradients for several right sides at once, whose products with A are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Product = Callable[[np.ndarray], np.ndarray]


@dataclass
class Step:
    """Where the iteration is; whoever reads it says which columns go on.

    Attributes
    ----------
    solution, residual : ndarray of shape (n, Q)
        Both change in place.
    done : int
        Products with A so far.
    length, ratio : ndarray of shape (Q,)
        Of the step that was taken last: along its direction, and of the squares of residuals.
    left : ndarray of shape (Q,), bool
        Columns that still move; may be written to between two steps.
    """

    solution: np.ndarray
    residual: np.ndarray
    done: int
    length: np.ndarray
    ratio: np.ndarray
    left: np.ndarray


def steps(
    multiply: Product, right: np.ndarray, precondition: Product | None = None
) -> Iterator[Step]:
    """Iterate on A x = right for a symmetric positive definite A (Hestenes & Stiefel 1952).

    The first step is yielded before any product. Parameters are those of `conjugate_gradients`.
    """
    r, x = right, np.zeros_like(right)
    z = r if precondition is None else precondition(r)
    p, rho = z.copy(), _products(r, z)
    at = Step(x, r, 0, np.zeros_like(rho), np.zeros_like(rho), rho > 0)
    while True:
        yield at
        q = multiply(p)
        curvature = _products(p, q)
        # rounding may leave nothing of a direction
        left = at.left & (rho > 0) & (curvature > 0)
        at.length = np.divide(rho, curvature, out=np.zeros_like(rho), where=left)
        q *= at.length
        r -= q
        np.multiply(p, at.length, out=q)
        x += q
        del q
        z = r if precondition is None else precondition(r)
        before, rho = rho, _products(r, z)
        at.ratio = np.divide(rho, before, out=np.zeros_like(rho), where=left)
        p *= at.ratio
        p += z
        at.done += 1


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
    """Solve A x = right for a symmetric positive definite A.

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
    size = _norms(right)
    for at in steps(multiply, right, precondition):
        at.left = _norms(at.residual) > tol * size
        if at.done == max_iter or not at.left.any():
            break
    norms = _norms(at.residual)
    parts = np.divide(norms, size, out=np.zeros_like(size), where=size > 0)
    return Iterations(at.solution, at.done, float(parts.max(initial=0)))


def conjugate_gradient_bytes(n: int, n_columns: int, preconditioned: bool = False) -> int:
    """Bytes of the vectors that are held: right side, solution, direction and its product."""
    return 8 * n * n_columns * (5 if preconditioned else 4)


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(_products(vectors, vectors))


def _products(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", left, right)
