"""Kernels by name and landmark selectors on MNIST: seconds beside a product's, error, accuracy.

`python benchmarks/landmark_selectors.py --kernels rbf linear --landmarks 10 40 160 640` draws
10,000 training and 5,000 test images for each seed, of fewer images two thirds and one. First, the
CPU seconds of each kernel between the training points and the largest number of landmarks, in
multiples of the plain product of the same size. Then, for each kernel, number of landmarks and
selector: seconds of the selection (`s`), in parts of the kernel matrix's that it is for (`of k`);
the share of the trace that the Nystrom approximation leaves; and the accuracy of ridge classifiers
on its features, the best of a few penalties by the test set, so that selectors are compared and
not penalties.

`--examples 10000` prints what each selector leaves of the trace of the two examples of Chen,
Epperly, Tropp & Webber (2025, figure 1), of so many points in float64: median over seeds.
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

EXAMPLES = {"smile": 2.0, "spiral": 1000.0}
"""Widths of the Gaussian kernel, in units of the points."""

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


def example(name: str, n: int) -> np.ndarray:
    """Return points of a face with two small eyes, or of a spiral that is dense in its middle."""
    if name == "spiral":
        t = np.linspace(0, 2, n)[::-1] ** 6
        return np.exp(0.2 * t)[:, None] * np.c_[np.cos(t), np.sin(t)]
    rng, few, mouth = np.random.default_rng(0), int(np.ceil(n**0.5)), n // 10
    radius, angle = np.sqrt(rng.uniform(size=2 * few)), rng.uniform(0, 2 * np.pi, 2 * few)
    eyes = radius[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    eyes += np.c_[np.repeat([-4, 4], few), np.full(2 * few, 4)]
    x, around = np.linspace(-5, 5, mouth), np.linspace(0, 2 * np.pi, n - 2 * few - mouth)
    face = 10 * np.c_[np.cos(around), np.sin(around)]
    return np.concatenate([eyes, np.c_[x, x**2 / 16 - 5], face])


def print_examples(n: int, landmarks: list[int], selectors: list[str], seeds: int) -> None:
    """Print what is left of the trace of each example."""
    print("example        b selector                  left")
    for name, width in EXAMPLES.items():
        X = example(name, n)
        bound = kernels.bind_kernel("rbf", X, width, "absolute")
        for b in landmarks:
            for selector in selectors:
                lefts = []
                for seed in range(seeds):
                    chosen = (selector, X, b, np.random.RandomState(seed), bound)
                    rows = kernels.select_landmarks(*chosen)
                    C = bound(X, X[rows])
                    eigenvalues, U = eigh(C[rows])
                    kept = eigenvalues > 1e-14 * eigenvalues[-1]
                    F = C @ (U[:, kept] / np.sqrt(eigenvalues[kept]))
                    lefts.append(1 - np.sum(F**2) / len(X))
                left = statistics.median(lefts)
                print(f"{name:10} {b:5} {selector:23} {left:8.1e}", flush=True)


def main() -> None:
    """Print a line for each kernel, then one for each selector at each number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--kernels", nargs="+", default=["rbf"], choices=kernels.KERNELS)
    parser.add_argument("--selectors", nargs="+", default=list(kernels.SELECTORS))
    parser.add_argument("--landmarks", nargs="+", type=int, default=[10, 40, 160, 640])
    parser.add_argument("--sigma", type=float, default=0.7, help="in medians")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--examples", type=int, default=0, help="points of the paper's examples")
    options = parser.parse_args()
    if options.examples:
        print_examples(options.examples, options.landmarks, options.selectors, options.seeds)
        return
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
