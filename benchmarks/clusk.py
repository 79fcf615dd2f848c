"""ClusK's fit against `scipy.linalg.eigh` on its own matrix L, in one run.

`python benchmarks/clusk.py` prints CPU seconds and ratios, medians over repeats: with all
eigenvectors (poly-step), and with the inverse that the regularised Laplacian needs instead.
"""

import argparse
import importlib
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import scipy.linalg
import threadpoolctl

from harness.kernels import gaussian_kernel
from harness.kernels.width import median_distance

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))


def cluster_kernel_svm() -> type:
    """Load the estimator from its plugin."""
    return importlib.import_module("cluster_kernel").ClusterKernelSVM


def seconds(call: callable) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Print one line for each number of points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    estimator = cluster_kernel_svm()
    print(f"{'n':>6}{'eigh s':>9}{'poly-step':>11}{'ratio':>7}{'inverse s':>11}{'ratio':>7}")
    with threadpoolctl.threadpool_limits(1):
        for n in options.points:
            X = np.random.default_rng(0).standard_normal((n, 60))
            y = np.full(n, -1)
            y[:200] = X[:200, 0] > 0
            K = gaussian_kernel(X, X, median_distance(X))
            root = np.sqrt(K.sum(axis=0))
            L = K / root / root[:, None]
            rounds = [
                (
                    seconds(lambda L=L: scipy.linalg.eigh(L)),
                    seconds(lambda X=X, y=y: estimator(transfer="poly-step").fit(X, y)),
                    seconds(lambda X=X, y=y: estimator().fit(X, y)),
                )
                for _ in range(options.repeats)
            ]
            eigh, poly, inverse = (
                statistics.median(column) for column in zip(*rounds, strict=True)
            )
            poly_ratio = statistics.median(own / best for best, own, _ in rounds)
            inverse_ratio = statistics.median(own / best for best, _, own in rounds)
            print(
                f"{n:6}{eigh:9.2f}{poly:11.2f}{poly_ratio:7.2f}{inverse:11.2f}{inverse_ratio:7.2f}"
            )


if __name__ == "__main__":
    main()
