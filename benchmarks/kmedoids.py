"""Budgeted k-medoids beside FasterPAM on the whole matrix of distances: cost, seconds, memory.

`python benchmarks/kmedoids.py mnist --points 5000 --clusters 10 --landmarks 500 1000`. The cost is
the sum over all points of squared kernel distances to the nearest medoid. FasterPAM (Schubert &
Rousseeuw 2021) is written here for reference: it takes any swap that lowers the cost, at once.
"""

import argparse
import importlib
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl

from harness import kernels
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.sandbox import Limits, Monitor, Sandbox
from harness.trial.warm_up import warm_up

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
plugin = importlib.import_module("kmedoids")


def distances(X: np.ndarray, kernel: kernels.BoundKernel, Z: np.ndarray) -> np.ndarray:
    """Return squared distances in feature space, shape (len(X), len(Z))."""
    D = kernel(Z, X).T
    D *= -2
    D += kernel.diagonal(X)[:, None]
    D += kernel.diagonal(Z)
    return np.maximum(D, 0, out=D)


def fasterpam(D: np.ndarray, medoids: np.ndarray) -> np.ndarray:
    """Swap until no swap lowers the cost."""
    n, since, medoids = len(D), 0, medoids.copy()
    while True:
        for point in range(n):
            if since == 0:
                order = np.argsort(D[medoids], axis=0)[:2]
                first, second = np.take_along_axis(D[medoids], order, axis=0)
                nearest = order[0]
            gained = np.minimum(D[point], first)
            lost = np.minimum(D[point], second) - gained
            change = np.bincount(nearest, lost, len(medoids)) + (gained - first).sum()
            since += 1
            if change.min() < -1e-6 * first.sum():
                medoids[change.argmin()], since = point, 0
            elif since >= n:
                return medoids


def main() -> None:
    """Print a line for each seed and number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--landmarks", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--kernel", default="rbf")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    X, _ = load(load_catalog()[options.dataset])
    X = X[np.sort(np.random.default_rng(0).permutation(len(X))[: options.points])]
    kernel = kernels.bind_kernel(options.kernel, X)
    k = options.clusters

    def cost(medoids: np.ndarray) -> float:
        return float(distances(X, kernel, X[medoids]).min(axis=1).sum(dtype=np.float64))

    def whole(seed: int, monitor: Monitor) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        start = time.process_time()
        medoids = np.random.default_rng(seed).choice(len(X), k, replace=False)
        medoids = fasterpam(distances(X, kernel, X), medoids)
        return {"seconds": time.process_time() - start}, {"medoids": medoids}

    def budgeted(
        b: int, refine: str, seed: int, monitor: Monitor
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        start = time.process_time()
        model = plugin.BudgetKernelKMedoids(
            k, b, refine, kernel=options.kernel, random_state=seed
        ).fit(X)
        spent = time.process_time() - start
        return {"seconds": spent}, {"medoids": model.medoid_indices_}

    calls = {"FasterPAM": whole}
    for b in options.landmarks:
        calls[f"b = {b}"] = partial(budgeted, b, "swap")
        calls[f"b = {b}, algorithm 4"] = partial(budgeted, b, "none")
    with threadpoolctl.threadpool_limits(1), Sandbox() as sandbox:
        warm_up()
        print(f"{'':24}   cost / FasterPAM's   seconds   MB beside the data")
        for seed in range(options.seeds):
            reference = None
            for name, call in calls.items():
                result = sandbox.run(partial(call, seed), Limits())
                found = cost(result.arrays["medoids"])
                reference = reference or found
                print(
                    f"{name:24}{found / reference:21.4f}{result.value['seconds']:10.2f}"
                    f"{result.peak_bytes / 1e6:15.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
