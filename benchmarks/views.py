"""XNV's seconds beside the limit that its operations set, and beside its textbook form.

`python benchmarks/views.py` takes sylva's size (72,626 x 216, generated) and cal_housing's (20,640
x 8, generated), or fewer points by `--points`, and 200 landmarks a view. The limit is the
operations of the matrix products at the rate of float32 products, plus exponentials at their own
and the systems of order M, all measured in the same process. The textbook holds both views'
features of all points in float64.
"""

import argparse
import importlib
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl

from harness import kernels

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
views = importlib.import_module("views")


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the least CPU seconds of a call."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def megabytes(call: Callable[[], object]) -> float:
    """Return what arrays took at the peak of a call."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def limit(n: int, d: int, M: int, k: int) -> dict[str, float]:
    """Return the least seconds of a fit with k features a view, by parts."""
    A, B = np.ones((1000, 2 * M), np.float32), np.ones((2 * M, 2 * M), np.float32)
    rate = 2 * A.size * B.shape[1] / seconds(lambda: A @ B, 20)
    exponents = np.full((1000, 2 * M), -0.5, np.float32)
    exponential = seconds(lambda: np.exp(exponents), 20) / exponents.size
    # Kernel rows of both views, their features, and half of the features' Gram matrix.
    operations = n * (2 * 2 * M * d + 2 * 2 * M * k + (2 * k) ** 2)
    landmarks = np.random.default_rng(0).standard_normal((M, d)).astype(np.float32)
    symmetric = np.cov(np.random.default_rng(0).standard_normal((k, 2 * k)))
    systems = 2 * seconds(lambda: kernels.NystromFeatures(landmarks, d**0.5))
    systems += seconds(lambda: kernels.eigensystem(symmetric.copy()))
    return {
        "products": operations / rate,
        "exponentials": 2 * n * M * exponential,
        "systems": systems,
    }


def textbook(X: np.ndarray, M: int, labeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labeled points' canonical coordinates and the correlations, by QR and SVD."""
    rng = np.random.default_rng(0)
    width = kernels.kernel_width(X, 2.0, "median")
    bases = []
    for rows in rng.permutation(len(X))[: 2 * M].reshape(2, M):
        Z = kernels.NystromFeatures(X[rows], width, 1e-6).transform(X)
        bases.append(np.linalg.qr(Z - Z.mean(axis=0))[0])
    U, correlations, _ = np.linalg.svd(bases[0].T @ bases[1])
    return bases[0][:labeled] @ U, correlations


def report(name: str, n: int, d: int, options: argparse.Namespace) -> None:
    """Print one size's lines."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    X[:, : d // 2] += X[:, [0]]
    y = np.full(n, np.nan)
    y[: options.labeled] = X[: options.labeled, 0]
    M = options.landmarks
    print(f"\n{name}: {n} x {d} float32, M = {M}")
    for cca in ("exact", "randomized"):
        model = views.XNV(M, cca=cca, random_state=0)
        fit = partial(model.fit, X, y)
        spent, held = seconds(fit), megabytes(fit)
        k = len(model.canonical_correlations_)
        print(f"  {cca:12}{spent:6.2f} s {held:8.1f} MB beyond the data, {k} features a view")
        if cca == "exact":
            parts = limit(n, d, M, k)
            listed = ", ".join(f"{part} {value:.2f}" for part, value in parts.items())
            print(f"  {'limit':12}{sum(parts.values()):6.2f} s: {listed}")
    double = X.astype(np.float64)
    spent = seconds(lambda: textbook(double, M, options.labeled), 1)
    held = megabytes(lambda: textbook(double, M, options.labeled))
    print(f"  {'textbook':12}{spent:6.2f} s {held:8.1f} MB beyond the data")


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--labeled", type=int, default=400)
    parser.add_argument("--points", type=int, default=72_626, help="at most, of each size")
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        report("cal_housing's size", min(20_640, options.points), 8, options)
        report("sylva's size", min(72_626, options.points), 216, options)


if __name__ == "__main__":
    main()
