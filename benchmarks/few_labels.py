"""Accuracy on unlabeled points by one parameter of a method, where labels are few.

    python benchmarks/few_labels.py s4vm n_candidates 10 20 50 100 [--datasets australian ...]

Draws `--labels` points of each class, and of each data set at most `--points`. Nothing is tuned;
shares of the classes decide, as in a study. Printed for each value: the mean over seeds of the
accuracy on the points without a label, the least and the largest gain over the labels alone of
those methods that tell it, and CPU seconds of a fit. "best" is that of the separators.
"""

from __future__ import annotations

import argparse
import ast
import time

import numpy as np

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.plugin.registry import Registry


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method")
    parser.add_argument("parameter")
    parser.add_argument("values", nargs="+")
    parser.add_argument(
        "--datasets", nargs="+", default=["digits-odd", "australian", "splice", "kr-vs-kp"]
    )
    parser.add_argument("--labels", type=int, default=10, help="of each class")
    parser.add_argument("--points", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--size", type=int, default=150, help="landmarks, features or rank")
    options = parser.parse_args()
    method, _ = Registry.load().get("methods", options.method)
    catalog = load_catalog()
    print(
        f"{'data set':12}  {options.parameter:>14}  accuracy  alone  best   gains           CPU s"
    )
    for name in options.datasets:
        X, truth = load(catalog[name])
        some = np.random.default_rng(0).permutation(len(X))[: options.points]
        X, truth = np.ascontiguousarray(X[some]), truth[some]
        for value in options.values:
            params = {**method.params, method.size: options.size}
            params[options.parameter] = ast.literal_eval(value)
            found = [
                _fit(method, params, X, truth, options.labels, seed)
                for seed in range(options.seeds)
            ]
            _print(name, value, np.array(found))


def _fit(method, params, X, truth, labels, seed):
    """Return accuracy, that of the labels alone, of the best separator, and CPU seconds."""
    rng, y = np.random.default_rng(seed), np.full(len(X), -1)
    for label in (0, 1):
        known = rng.choice(np.flatnonzero(truth == label), labels, replace=False)
        y[known] = label
    drawn = {"random_state": seed} if "random_state" in method.parameters else {}
    start, unlabeled = time.process_time(), y == -1
    model = method.estimator(**params, **drawn).fit(X, y)
    seconds = time.process_time() - start
    labels_of = getattr(model, "transduction_", None)
    labels_of = model.predict(X) if labels_of is None else labels_of
    right = float((labels_of == truth)[unlabeled].mean())
    if not hasattr(model, "baselines_"):
        return right, np.nan, np.nan, seconds
    signs = np.where(truth[unlabeled] == 1, 1, -1)
    alone = float((model.baselines_[0] == signs).mean())
    best = max(float((one == signs).mean()) for one in model.candidates_[0])
    return right, alone, best, seconds


def _print(name, value, found):
    right, alone, best, seconds = found.mean(axis=0)
    gains = ""
    if not np.isnan(alone):
        differences = found[:, 0] - found[:, 1]
        gains = f"{alone:.3f}  {best:.3f}  {differences.min():+.3f} .. {differences.max():+.3f}"
    print(f"{name:12}  {value:>14}  {right:.3f}     {gains:30}  {seconds:.2f}", flush=True)


if __name__ == "__main__":
    main()
