"""Exact degrees against the machine's own GEMM on the same shapes, in one run.

`python benchmarks/degrees.py` prints two ratios. "n^2 d" counts the work that defines degrees,
2 n^2 d operations, which symmetry halves; "done" counts only products that were computed, so
that exponentials, sums and norms show as lost time.
"""

import argparse
import statistics
import time

import numpy as np
import threadpoolctl

from harness.kernels import exact_degrees
from harness.kernels.degrees import DEGREE_TILE


def gemm_rate(d: int, dtype: type) -> float:
    """Return floating-point operations a CPU second of a tile's product."""
    A, B = (np.ones((DEGREE_TILE, d), dtype) for _ in range(2))
    out = np.empty((DEGREE_TILE, DEGREE_TILE), dtype)
    repeats = max(8, int(4e9 / out.size / d))
    start = time.process_time()
    for _ in range(repeats):
        np.matmul(A, B.T, out=out)
    return repeats * 2 * out.size * d / (time.process_time() - start)


def degrees_rate(X: np.ndarray, dtype: type) -> float:
    """Return the same of `exact_degrees`."""
    tiles = -(-len(X) // DEGREE_TILE)
    pairs = tiles * (tiles + 1) / 2 * DEGREE_TILE**2
    start = time.process_time()
    exact_degrees(X, X.shape[1] ** 0.5, dtype)
    return 2 * pairs * X.shape[1] / (time.process_time() - start)


def main() -> None:
    """Print one line a shape: both rates and the median of their ratios over repeats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=8 * DEGREE_TILE)
    parser.add_argument("--features", type=int, nargs="+", default=[54, 123, 300, 784])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{'type':8}{'n':>8}{'d':>6}{'GEMM GF/s':>12}{'degrees GF/s':>14}{'n^2 d':>8}{'done':>8}"
    )
    print("ratios to GEMM: n^2 d counts all pairs, though symmetry saves half of the products;")
    print("done counts the products computed, so exponentials, sums and norms are lost time")
    with threadpoolctl.threadpool_limits(1):
        for dtype in (np.float32, np.float64):
            for d in options.features:
                X = np.random.default_rng(0).standard_normal((options.points, d))
                rates = [
                    (gemm_rate(d, dtype), degrees_rate(X, dtype)) for _ in range(options.repeats)
                ]
                gemm, ours = (statistics.median(column) for column in zip(*rates, strict=True))
                ratio = statistics.median(own / best for best, own in rates)
                # Products that symmetry saves.
                tiles = -(-len(X) // DEGREE_TILE)
                full = 2 * tiles / (tiles + 1)
                name = np.dtype(dtype).name
                figures = f"{gemm / 1e9:12.1f}{ours / 1e9:14.1f}{full * ratio:8.2f}{ratio:8.2f}"
                print(f"{name:8}{len(X):8}{d:6}{figures}")


if __name__ == "__main__":
    main()
