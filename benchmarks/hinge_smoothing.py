"""What the hinge loss itself costs with few landmarks: accuracy, and machines that are constant.

`python benchmarks/hinge_smoothing.py mnist --landmarks 10 --seeds 20` trains on the first 60,000
points and predicts the other 10,000: with the hinge, with its corner rounded, and with least
squares. In parentheses is the mean number of classes of which no test point scores above -0.99:
one class against the rest the hinge is least at f = -1 where the landmarks do not tell the class
apart, and such a class is never predicted.
"""

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np
import threadpoolctl

from harness.datasets import load_catalog
from harness.datasets.preparation import load

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
machines = importlib.import_module("budget_machines")
C, WIDTHS = 10.0, (0.0, 0.5, 2.0)


def main() -> None:
    """Print mean accuracy with its standard error, and the machines that are constant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--points", type=int, default=60_000, help="that are trained on")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[10])
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    X, y = load(load_catalog()[options.dataset])
    n = options.points
    X, y, X_new, y_new = X[:n], y[:n], X[n:], y[n:]
    names = [*(f"smoothing {width:g}" for width in WIDTHS), "least squares"]
    print(f"{'landmarks':>9}" + "".join(f"  {name:>20}" for name in names))
    for b in options.landmarks:
        found, constant = [], []
        for seed in range(options.seeds):
            params = {"sigma": options.sigma, "C": C, "random_state": seed}
            models = [machines.BudgetSVM(b, smoothing=width, **params) for width in WIDTHS]
            scores = [
                model.fit(X, y).decision_function(X_new)
                for model in (*models, machines.BudgetLSSVM(b, **params))
            ]
            classes = models[0].classes_
            found.append([np.mean(classes[of.argmax(axis=1)] == y_new) for of in scores])
            constant.append([np.sum(of.max(axis=0) < -0.99) for of in scores])
        means, counts = 100 * np.mean(found, axis=0), np.mean(constant, axis=0)
        errors = 100 * np.std(found, axis=0, ddof=1) / len(found) ** 0.5
        cells = zip(means, errors, counts, strict=True)
        row = "".join(f"  {f'{m:.1f} +- {e:.1f} ({n:.1f})':>20}" for m, e, n in cells)
        print(f"{b:9d}{row}", flush=True)


if __name__ == "__main__":
    with threadpoolctl.threadpool_limits(1):
        main()
