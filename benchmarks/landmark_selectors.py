"""Kernels by name and landmark selectors on MNIST: seconds beside a product's, error, accuracy.

`python benchmarks/landmark_selectors.py --kernels rbf linear --landmarks 10 40 160 640` draws
10,000 training and 5,000 test images for each seed, of fewer images two thirds and one. First, the
CPU seconds of each kernel between the training points and the largest number of landmarks, in
multiples of the plain product of the same size. Then, for each kernel, number of landmarks and
selector: seconds of the selection (`s`), in parts of the kernel matrix's that it is for (`of k`);
the share of the trace that the Nystrom approximation leaves; and the accuracy of ridge classifiers
on its features, the best of a few penalties by the test set, so that selectors are compared and
not penalties.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, solve

from harness import kernels
from harness.datasets import load_catalog
from harness.datasets.preparation import load

N_TRAIN, N_TEST = 10_000, 5_000
PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


def timed(call: Callable, *arguments: object) -> tuple[float, object]:
    """Return CPU seconds of a call, and its result."""
    start = time.process_time()
    result = call(*arguments)
    return time.process_time() - start, result


def judge(
    bound: kernels.BoundKernel, rows: np.ndarray, train: tuple, test: tuple
) -> tuple[float, float]:
    """Return the share of the trace that is left, and the accuracy, both of 100."""
    (X, y), (X_test, y_test) = train, test
    Z = X[rows]
    C = bound(X, Z).astype(np.float64)
    eigenvalues, U = eigh(C[rows])
    kept = eigenvalues > 1e-6 * eigenvalues[-1]
    projection = U[:, kept] / np.sqrt(eigenvalues[kept])
    F = C @ projection
    trace = bound.diagonal(X).sum(dtype=np.float64)
    left = 1 - np.sum(F**2) / trace
    mean = F.mean(axis=0)
    F -= mean
    targets = 2.0 * (y[:, None] == np.arange(10)) - 1
    offset = targets.mean(axis=0)
    G, cross = F.T @ F, F.T @ (targets - offset)
    F_test = bound(X_test, Z).astype(np.float64) @ projection - mean
    scale = trace / len(X)
    accuracies = []
    for penalty in PENALTIES:
        ridge = G + penalty * scale * np.eye(len(G))
        scores = F_test @ solve(ridge, cross, assume_a="pos") + offset
        accuracies.append(np.mean(scores.argmax(axis=1) == y_test))
    return 100 * left, 100 * max(accuracies)


def draw(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[tuple, tuple]:
    """Return training and test points."""
    order = np.random.default_rng(seed).permutation(len(X))[: N_TRAIN + N_TEST]
    n_train = min(N_TRAIN, 2 * len(order) // 3)
    train, test = np.sort(order[:n_train]), np.sort(order[n_train:])
    return (X[train], y[train]), (X[test], y[test])


def main() -> None:
    """Print a line for each kernel, then one for each selector at each number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--kernels", nargs="+", default=["rbf"], choices=kernels.KERNELS)
    parser.add_argument("--selectors", nargs="+", default=list(kernels.SELECTORS))
    parser.add_argument("--landmarks", nargs="+", type=int, default=[10, 40, 160, 640])
    parser.add_argument("--sigma", type=float, default=0.7, help="in medians")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    X, y = load(load_catalog()[options.dataset])
    X = np.ascontiguousarray(X, np.float32)
    draws = [draw(X, y, seed) for seed in range(options.seeds)]

    (points, _), _ = draws[0]
    largest = points[: max(options.landmarks)]
    product = min(timed(np.matmul, points, largest.T)[0] for _ in range(3))
    print(f"product of {len(points)} x {len(largest)} x {points.shape[1]}: {product:.3f} s")
    for name in kernels.KERNELS:
        bound = kernels.bind_kernel(name, points, options.sigma)
        seconds = min(timed(bound, points, largest)[0] for _ in range(2))
        cells = len(points) * len(largest) * points.shape[1] / seconds / 1e9
        print(f"{name:10} {seconds:6.3f} s, {seconds / product:5.1f} x, {cells:5.1f} cells/ns")

    print("kernel         b selector                s  of k   left   acc  sd")
    for kernel in options.kernels:
        for b in options.landmarks:
            for selector in options.selectors:
                figures = []
                for seed, (train, test) in enumerate(draws):
                    bound = kernels.bind_kernel(kernel, train[0], options.sigma)
                    chosen = (selector, train[0], b, np.random.RandomState(seed), bound)
                    seconds, rows = timed(kernels.select_landmarks, *chosen)
                    of_matrix, _ = timed(bound, train[0], train[0][rows])
                    judged = judge(bound, rows, train, test)
                    figures.append((seconds, seconds / of_matrix, *judged))
                means = [statistics.fmean(column) for column in zip(*figures, strict=True)]
                spread = np.std([accuracy for *_, accuracy in figures])
                line = "{:7.3f} {:5.1f} {:6.2f} {:5.1f}".format(*means)
                print(f"{kernel:10} {b:5} {selector:17} {line} {spread:3.1f}", flush=True)


if __name__ == "__main__":
    main()
