"""What the hinge loss itself costs with few landmarks: accuracy at its minimum, and smoothed.

`python benchmarks/hinge_smoothing.py mnist --landmarks 10 --seeds 20` trains on the first 60,000
points and predicts the other 10,000. One class against the rest the hinge is least at f = -1 where
the landmarks do not tell the class apart, and such a class is never predicted. "constant" counts
these machines. A hinge whose corner is rounded off over a width h leaves an order in their scores.
The same features and C throughout.
"""

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np
import threadpoolctl
from scipy.optimize import minimize

from harness.datasets import load_catalog
from harness.datasets.preparation import load

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
machines = importlib.import_module("budget_machines")
C, WIDTHS = 10.0, (0.5, 2.0)


def smoothed(Z: np.ndarray, signs: np.ndarray, h: float) -> np.ndarray:
    """Minimise |w|^2 + C sum_i L(1 - y_i f(z_i)), L(g) = g^2 / 2h up to h, g - h / 2 beyond."""
    features = np.column_stack([Z, np.ones(len(Z))])
    penalty = np.append(np.ones(Z.shape[1]), 0)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        slack = 1 - signs * (features @ w)
        slope = np.clip(slack / h, 0, 1)
        value = penalty @ w**2 + C * np.sum(slope * (slack - h * slope / 2))
        return value, 2 * penalty * w - C * (features.T @ (slope * signs))

    return minimize(objective, np.zeros(len(penalty)), jac=True, method="L-BFGS-B").x


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
    n, classes = options.points, np.unique(y)
    X, y, X_new, y_new = X[:n], y[:n], X[n:], y[n:]
    names = ["hinge", "least squares", *(f"h = {h:g}" for h in WIDTHS)]
    print(f"{'landmarks':>9}  {'constant':>8}" + "".join(f"  {name:>14}" for name in names))
    for b in options.landmarks:
        found, constant = [], []
        for seed in range(options.seeds):
            params = {"sigma": options.sigma, "C": C, "random_state": seed}
            svm = machines.BudgetSVM(b, **params).fit(X, y)
            lssvm = machines.BudgetLSSVM(b, **params).fit(X, y)
            constant.append(int((svm.decision_function(X).max(axis=0) < -0.99).sum()))
            Z, Z_new = (svm._features.transform(part).astype(np.float64) for part in (X, X_new))
            accuracies = [np.mean(model.predict(X_new) == y_new) for model in (svm, lssvm)]
            for h in WIDTHS:
                W = [smoothed(Z, np.where(y == label, 1.0, -1.0), h) for label in classes]
                *weights, biases = np.transpose(W)
                scores = Z_new @ np.array(weights) + biases
                accuracies.append(np.mean(classes[scores.argmax(axis=1)] == y_new))
            found.append(accuracies)
        means = 100 * np.mean(found, axis=0)
        errors = 100 * np.std(found, axis=0, ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
        cells = zip(means, np.broadcast_to(errors, means.shape), strict=True)
        row = "".join(f"  {f'{mean:.1f} +- {error:.1f}':>14}" for mean, error in cells)
        print(f"{b:9d}  {np.mean(constant):8.1f}{row}", flush=True)


if __name__ == "__main__":
    with threadpoolctl.threadpool_limits(1):
        main()
