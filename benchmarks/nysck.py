"""NysCK's seconds beside the limit that its operations set, and its AUC, on real data.

`python benchmarks/nysck.py a9a:1000,3000 w8a:1000,3000 --budgets 200MB 400MB` takes data sets with
their numbers of labeled points; all other points are unlabeled and scored. At each budget the
number of landmarks is the plan's, and with `--paper` that of the paper's storage formula. The
limit is the operations of all matrix products at the rate of float32 and float64 products, plus
exponentials and the eigensystem at their own, all measured in the same process.
"""

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import threadpoolctl
from sklearn.metrics import roc_auc_score

from harness.datasets import Split, load_catalog, split
from harness.datasets.preparation import load
from harness.kernels import eigensystem
from harness.planning.size import plan
from harness.plugin.shape import Shape
from harness.units import parse_bytes

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
nysck = importlib.import_module("nysck")
METHOD = next(nysck.harness_methods())


def seconds(call: Callable[[], object]) -> float:
    """Return CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def rate(dtype: type, s: int) -> float:
    """Return operations a second of a product with an s x s matrix."""
    A = np.ones((max(256, s // 4), s), dtype)
    B, repeats = np.ones((s, s), dtype), max(1, 2 * 10**9 // (2 * A.size * s))
    A @ B
    return repeats * 2 * A.size * s / seconds(lambda: [A @ B for _ in range(repeats)])


def limit(n: int, d: int, s: int, k: int) -> dict[str, float]:
    """Return the least seconds of a fit and a prediction of all points, by parts."""
    exponents = np.full((1000, 1000), -0.5, np.float32)
    exponential = seconds(lambda: np.exp(exponents, out=exponents)) / exponents.size
    X = np.random.default_rng(0).standard_normal((s, s))
    symmetric = X + X.T
    # Kernel rows for degrees, the Gram matrix and prediction; substitution; half of the Gram
    # matrix; F. Of the landmarks' factor and of the coefficients.
    single = n * (3 * 2 * s * d + 2 * s * s + 2 * s * k) + s * s * k
    double = s**3 / 3 + s * s * d
    return {
        "products": single / rate(np.float32, s) + double / rate(np.float64, s),
        "exponentials": 3 * n * s * exponential,
        "eigensystem": seconds(lambda: eigensystem(symmetric)),
    }


def measured(
    model: nysck.NystromClusterKernelSVM, X: np.ndarray, known: np.ndarray, halves: Split
) -> tuple[list[float], np.ndarray]:
    """Return seconds of eigensystem, SVM and prediction, and the scores of unlabeled points."""
    labeled, rest = halves.labeled, X[halves.unlabeled]
    parts = [
        seconds(lambda: model.fit_features(X, labeled)),
        seconds(lambda: model.fit_labels(known[labeled])),
    ]
    model.fit(X, known)
    start = time.process_time()
    scores = model.decision_function(rest)
    return [*parts, time.process_time() - start], scores


def report(name: str, counts: list[int], options: argparse.Namespace) -> None:
    """Print one data set's lines: one a budget."""
    X, y = load(load_catalog()[name])
    n, d = X.shape
    storage = {"storage": "paper"} if options.paper else {}
    print(f"\n{name}: {n} points, {d} features; {options.seeds} seeds")
    head = "".join(f"{f'AUC {count}':>10}" for count in counts)
    print(f"{'budget':>8}{'s':>6}{'k':>6}{head}   fit SVM predict = all; limit: ", end="")
    print("products exponentials eigensystem")
    for budget in options.budgets:
        planned = plan(METHOD, Shape(counts[0], n - counts[0], d, 2), budget, storage)
        if not planned.feasible:
            print(f"{budget / 1e6:6g}MB {planned.reason}")
            continue
        found, spent = {count: [] for count in counts}, []
        for seed in range(options.seeds):
            model = nysck.NystromClusterKernelSVM(planned.size, random_state=seed, **storage)
            for count in counts:
                halves = split(y, "binary", count, "transductive", seed)
                known = np.full(n, -1)
                known[halves.labeled] = y[halves.labeled]
                parts, scores = measured(model, X, known, halves)
                found[count].append(roc_auc_score(y[halves.unlabeled], scores))
                spent.append(parts)
        k = model.projection_.shape[1]
        least = limit(n, d, planned.size, k)
        means = "".join(f"{statistics.mean(found[count]):10.4f}" for count in counts)
        parts = [statistics.mean(column) for column in zip(*spent, strict=True)]
        print(f"{budget / 1e6:6g}MB{planned.size:6}{k:6}{means}   ", end="")
        print(" ".join(f"{part:.2f}" for part in parts), f"= {sum(parts):.2f};", end=" ")
        shares = " ".join(f"{part:.2f}" for part in least.values())
        print(f"{sum(least.values()):.2f}: {shares}", flush=True)


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME:LABELED[,LABELED...]")
    parser.add_argument("--budgets", type=parse_bytes, nargs="+", default=[200_000_000])
    parser.add_argument("--paper", action="store_true", help="landmarks of the paper's formula")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for item in options.sets:
            name, _, counts = item.partition(":")
            report(name, [int(count) for count in counts.split(",")], options)


if __name__ == "__main__":
    main()
