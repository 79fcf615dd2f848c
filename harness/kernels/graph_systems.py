"""Systems of graphs by conjugate gradients, several right sides at once, and how far off they are.

Systems of graphs are only multiplied with. How far a solution is off depends on their smallest
eigenvalue, which nobody knows before: the iteration itself tells it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from harness.kernels.conjugate_gradients import steps


def solve_graph_systems(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    root: np.ndarray,
    tolerance: float,
    max_iterations: int,
    least: float,
) -> tuple[np.ndarray, int, float]:
    """Solve A x = b for all columns of b at once until x / root is known to the tolerance.

    Holds 4 n k doubles, b among them, and `steps_bytes` beside what `multiply` returns.

    Parameters
    ----------
    multiply : callable
        Returns A @ vectors for vectors of shape (n, k). A is positive definite, or b is in its
        range, and no eigenvalue is far above 1.
    b : ndarray of shape (n, k)
        Used up.
    root : ndarray of shape (n, 1)
        Above 0.
    tolerance : float
    max_iterations : int
    least : float
        What no eigenvalue that counts is below.

    Returns
    -------
    x : ndarray of shape (n, k)
    n_iterations : int
    error : float
        Of x / root: the largest residual, over the smallest eigenvalue that was met.
    """
    lengths: list[np.ndarray] = []
    ratios: list[np.ndarray] = []
    for at in steps(multiply, b):
        if at.done:
            lengths.append(at.length)
            ratios.append(at.ratio)
        local = np.abs(at.residual / root).max(axis=0)
        worst = int(local.argmax())
        error = float(local[worst])
        # No eigenvalue is far above 1: what is too large already need not be divided.
        if error <= tolerance or at.done == max_iterations:
            error /= _smallest_ritz_value(lengths, ratios, worst, least)
            if error <= tolerance or at.done == max_iterations:
                break
    return at.solution, at.done, error


def steps_bytes(columns: int, max_iterations: int) -> int:
    """Bytes of what is kept of each iteration: two small arrays."""
    return 2 * max_iterations * (8 * columns + 128)


def _smallest_ritz_value(
    steps: list[np.ndarray], ratios: list[np.ndarray], column: int, least: float
) -> float:
    """Return the smallest eigenvalue of the Lanczos matrix that conjugate gradients imply."""
    # A column that was solved before the others has steps of length 0 since.
    step = np.array([values[column] for values in steps if values[column] > 0])
    if not step.size:
        return 1.0
    ratio = np.array([values[column] for values in ratios])[: len(step) - 1]
    diagonal = 1 / step
    diagonal[1:] += ratio / step[:-1]
    off_diagonal = np.sqrt(ratio) / step[:-1]
    smallest = eigvalsh_tridiagonal(diagonal, off_diagonal, select="i", select_range=(0, 0))[0]
    return max(float(smallest), least)
