"""AUC of NysCK by variant, transfer function and number of landmarks, beside the RBF-SVM.

`python benchmarks/nysck_variants.py australian:69 breast_cancer:40 digits-odd:40` takes data sets
with their numbers of labeled points; all other points are unlabeled and scored. `--budgets` adds
the number of landmarks that a plan gives at those budgets. What is fetched goes to the cache.
"""

import argparse
import importlib
import statistics
import sys
import warnings
from pathlib import Path

import numpy as np
import threadpoolctl
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from harness.datasets import load_catalog, split
from harness.datasets.preparation import load
from harness.planning.size import plan
from harness.plugin.shape import Shape
from harness.units import parse_bytes

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
nysck = importlib.import_module("nysck")
supervised = importlib.import_module("supervised")

VARIANTS = [
    ("one-shot", "poly-step"),
    ("one-shot", "linear"),
    ("literal", "poly-step"),
    ("literal", "linear"),
]


def auc(estimator, X: np.ndarray, y: np.ndarray, labeled: np.ndarray, scored: np.ndarray) -> float:
    """Fit on all points with the labels of some, and score others."""
    known = np.full(len(X), -1)
    known[labeled] = y[labeled]
    return roc_auc_score(y[scored], estimator.fit(X, known).decision_function(X[scored]))


def table(name: str, n_labeled: int, options: argparse.Namespace) -> None:
    """Print one data set's table."""
    X, y = load(load_catalog()[name])
    shape = Shape(n_labeled, len(X) - n_labeled, X.shape[1], 2)
    method = next(nysck.harness_methods())
    planned = {plan(method, shape, budget).size: budget for budget in options.budgets}
    sizes = sorted({min(s, len(X)) for s in options.landmarks} | set(planned))
    splits = [split(y, "binary", n_labeled, "transductive", seed) for seed in range(options.seeds)]

    def mean(make) -> str:
        found = [auc(make(i), X, y, s.labeled, s.unlabeled) for i, s in enumerate(splits)]
        return f"{statistics.mean(found):8.3f}"

    print(f"\n{name}: {len(X)} points, {n_labeled} labeled, mean AUC of {options.seeds} seeds")
    for s, budget in sorted(planned.items()):
        print(f"{s} landmarks are the plan at {budget / 1e6:g} MB")
    print(f"{'landmarks':38}{'C':>5}" + "".join(f"{s:8}" for s in sizes))
    for C in options.C:
        print(f"{'RBF-SVM, labeled points alone':38}{C:5g}", end="")
        # No landmarks: the same figure in every column.
        print(mean(lambda i, C=C: _Labeled(supervised.KernelSVM(C=C))))
    laplacians = [
        (f"one-shot, regularized-laplacian {epsilon:g}", {"epsilon": epsilon})
        for epsilon in options.epsilon
    ]
    others = [
        (f"{variant}, {transfer}", {"variant": variant, "transfer": transfer})
        for variant, transfer in VARIANTS
    ]
    for label, settings in laplacians + others:
        for C in options.C:
            print(f"{label:38}{C:5g}", end="", flush=True)
            for s in sizes:

                def make(i, s=s, C=C, settings=settings):
                    return nysck.NystromClusterKernelSVM(s, C=C, random_state=i, **settings)

                print(mean(make), end="", flush=True)
            print()


class _Labeled:
    """A supervised method is given the labeled points only, as in a trial."""

    def __init__(self, estimator) -> None:
        self._estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray):
        return self._estimator.fit(X[y >= 0], y[y >= 0])


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME:LABELED")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    parser.add_argument("--budgets", type=parse_bytes, nargs="*", default=[], help="as 40MB")
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpoolctl.threadpool_limits(1):
        for item in options.sets:
            name, _, labeled = item.partition(":")
            table(name, int(labeled), options)


if __name__ == "__main__":
    main()
