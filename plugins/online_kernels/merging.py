"""Merging two support vectors of a Gaussian kernel into one point between them.

With z = h x_p + (1 - h) x_n and u = k(x_p, x_n), k(x_p, z) is u^((1 - h)^2) and k(x_n, z) u^(h^2).
The best coefficient of z is a_p k(x_p, z) + a_n k(x_n, z). The squared norm that is lost is
|a_p|^2 + |a_n|^2 + 2 a_p'a_n u less that of this coefficient (Wang, Crammer & Vucetic 2012). Of
two that point alike, z is nearer to the heavier one: h, the share of the lighter, is at most 1/2.
"""

from __future__ import annotations

import numpy as np

from harness.kernels import BoundKernel

from .support import SupportSet
from .windows import KernelWindow

_GRID = np.linspace(0, 0.5, 11)[:, None]
_NEAR = np.linspace(-1, 1, 21)
_LEAST_EXPONENT = -700.0


def merge(support: SupportSet, kernel: BoundKernel, window: KernelWindow) -> None:
    """Merge the lightest support vector with the partner that loses least.

    Partners are compared at eleven h; that of the best is then found to 1e-4.
    """
    n = support.size
    alpha, points = support.coef[:n], support.points[:n]
    norms = np.einsum("ij,ij->i", alpha, alpha)
    p = int(support.lightest(1)[0])
    exponents = _log_kernel(points[p], points, kernel.width)
    products = alpha @ alpha[p]
    kept = kept_norm(_GRID, exponents, norms[p], norms, products)
    lost = norms[p] + norms + 2 * products * np.exp(exponents) - kept.max(axis=0)
    lost[p] = np.inf
    partner = int(lost.argmin())
    best = int(kept[:, partner].argmax())
    h = best_share(best, exponents[partner], norms[p], norms[partner], products[partner])
    u = exponents[partner]
    coef = np.exp((1 - h) ** 2 * u) * alpha[p] + np.exp(h**2 * u) * alpha[partner]
    z = points[partner] + np.float32(h) * (points[p] - points[partner])
    window.move(partner, z, coef)
    window.remove(p)


def kept_norm(
    h: np.ndarray | float,
    exponents: np.ndarray | float,
    light: float,
    heavy: np.ndarray | float,
    product: np.ndarray | float,
) -> np.ndarray:
    """Return |a_z|^2 at some h, of squared norms, inner products and log kernel values."""
    p, n = np.exp((1 - h) ** 2 * exponents), np.exp(h**2 * exponents)
    return np.asarray(light * p * p + heavy * n * n + 2 * product * p * n)


def best_share(best: int, exponent: float, light: float, heavy: float, product: float) -> float:
    """Return the h with the largest `kept_norm` near a point of the grid, to 5e-4."""
    h, away = float(_GRID[best, 0]), float(_GRID[1, 0])
    for _ in range(2):
        near = np.clip(h + away * _NEAR, 0, 0.5)
        h = float(near[kept_norm(near, exponent, light, heavy, product).argmax()])
        away *= _NEAR[1] - _NEAR[0]
    return h


def _log_kernel(x: np.ndarray, points: np.ndarray, width: float) -> np.ndarray:
    away = points - x
    squared = np.einsum("ij,ij->i", away, away).astype(np.float64)
    return np.maximum(squared * (-0.5 / width**2), _LEAST_EXPONENT)


def merging_bytes(capacity: int, d: int) -> int:
    """Bytes that `merge` holds for so many support vectors."""
    return capacity * (4 * d + 8 * 4 * len(_GRID) + 8 * 6)
