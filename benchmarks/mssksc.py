"""Seconds and peak memory of MSSKSC in the primal beside its operations and beside scikit-learn.

`python benchmarks/mssksc.py` fits data of covertype's shape (54 columns, a sixth labeled): 500,000
points with 300 features, and 384,000 with 819, the largest setting of table II. The peer is
`RBFSampler` and `RidgeClassifier` on as many features of the same labeled points; `--every-label`
gives it all points with labels. Each runs in a process of its own; peaks are what it adds to the
data. The rate of float32 products is measured in the same process.
"""

import argparse
import importlib
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import threadpoolctl

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))


def make_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 points and two classes that a random quadratic form divides."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    W = rng.standard_normal((d, 4), dtype=np.float32)
    return X, ((X @ W) ** 2 @ np.array([1, -1, 1, -1], np.float32) > 0).astype(np.int64)


def product_rate(m: int) -> float:
    """Return float32 operations a second of a product with an m x m matrix."""
    A, B = np.ones((1024, m), np.float32), np.ones((m, m), np.float32)
    A @ B
    start = time.process_time()
    for _ in range(20):
        A @ B
    return 20 * 2 * A.size * m / (time.process_time() - start)


def operations(n: int, labeled: int, d: int, m: int, sample: int) -> int:
    """Return the operations of all products: features of every point, and symmetric sums."""
    features = (n + labeled + sample) * d * m
    return features + (n + labeled) * (m + 1) ** 2 + 2 * n * m + m**3 // 3


def peak() -> int:
    """Return the process's highest resident size so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(which: str, n: int, d: int, m: int, every_label: bool) -> dict[str, float]:
    """Fit one of the two and return its CPU seconds, wall seconds and added bytes."""
    importlib.import_module("mssksc")  # with the libraries that are to be limited
    with threadpoolctl.threadpool_limits(1):
        make: dict[str, Callable] = {"ours": ours, "scikit-learn": peer}
        small, truth = make_data(600, d)
        make[which](small, np.where(np.arange(600) % 6, -1, truth), 16)
        X, truth = make_data(n, d)
        y = truth if every_label and which != "ours" else np.where(np.arange(n) % 6, -1, truth)
        before, start, wall = peak(), time.process_time(), time.perf_counter()
        model = make[which](X, y, m)
        cpu, wall = time.process_time() - start, time.perf_counter() - wall
        added = peak() - before
        sample = slice(1, min(n, 60_000), 6)
        found = {"cpu": cpu, "wall": wall, "bytes": added}
        found["accuracy"] = float(np.mean(model.predict(X[sample]) == truth[sample]))
        found["rate"] = product_rate(m)
        return found


def ours(X: np.ndarray, y: np.ndarray, m: int) -> object:
    """Fit RFF-MSSKSC."""
    plugin = importlib.import_module("mssksc")
    return plugin.PrimalMSSKSC(n_components=m, random_state=0).fit(X, y)


def peer(X: np.ndarray, y: np.ndarray, m: int) -> object:
    """Fit scikit-learn's random features and ridge classifier on the labeled points."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(RBFSampler(n_components=m, random_state=0), RidgeClassifier())
    known = y >= 0
    return model.fit(X[known], y[known])


def main() -> None:
    """Print one line for each setting and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every-label", action="store_true", help="the peer has all labels")
    parser.add_argument("--points", type=int, nargs="*", default=[500_000, 384_000])
    parser.add_argument("--features", type=int, nargs="*", default=[300, 819])
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    primal = importlib.import_module("mssksc.primal")
    print("method        points  features  CPU s  wall s  MB added  accuracy  limit s  CPU/limit")
    for n, m in zip(given.points, given.features, strict=True):
        for which in ("ours", "scikit-learn"):
            with context.Pool(1) as pool:
                found = pool.apply(measure, (which, n, 54, m, given.every_label))
            line = f"{which:12} {n:7} {m:9} {found['cpu']:6.2f} {found['wall']:7.2f}"
            line += f" {found['bytes'] / 1e6:9.1f} {found['accuracy']:9.3f}"
            if which == "ours":
                sample = min(n, primal._DEGREE_SAMPLE)
                least = operations(n, n // 6, 54, m, sample) / found["rate"]
                line += f" {least:8.2f} {found['cpu'] / least:10.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
