"""A cell of the budget tables beside the operations it cannot do without: seconds, peak, accuracy.

`python benchmarks/budget.py mnist 1280 --kernel rbf` trains on the first 60,000 points for all ten
classes and predicts the other 10,000. The least operations are k(X, B), one triangle of its Gram
matrix and k(B, X_new), at the rate of float32 products measured in the same process.
The peak is what a trial's child adds to the data, as the kernel counts it.
"""

import argparse
import importlib
import itertools
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.sandbox import Limits, Monitor, Sandbox
from harness.worker import warm_up

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
machines = importlib.import_module("budget_machines")
ssokmf = importlib.import_module("ssokmf")
ESTIMATORS = {
    "lssvm": machines.BudgetLSSVM,
    "svm": machines.BudgetSVM,
    "ssokmf": ssokmf.SSOKMF,
}
_TEST = 10_000


def product_rate(b: int) -> float:
    """Return operations a second of float32 products with b columns."""
    A, B = np.ones((2048, 784), np.float32), np.ones((784, b), np.float32)
    A @ B
    repeats = max(1, 4 * 10**9 // (A.size * b))
    start = time.process_time()
    for _ in range(repeats):
        A @ B
    return repeats * 2 * A.size * b / (time.process_time() - start)


def main() -> None:
    """Print a line for each machine and number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("landmarks", type=int, nargs="+")
    parser.add_argument("--machines", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--kernel", default="rbf")
    parser.add_argument("--selector", default="uniform")
    parser.add_argument("--points", type=int, default=60_000, help="that are trained on")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    X, y = load(load_catalog()[options.dataset])
    n, d = options.points, X.shape[1]
    trained = np.random.default_rng(0).permutation(len(X) - _TEST)[:n]
    X, y, X_new, y_new = X[trained], y[trained], X[-_TEST:], y[-_TEST:]
    given = (item.partition("=") for item in options.set)
    params = {name: float(value) for name, _, value in given}
    params |= {"kernel": options.kernel, "selector": options.selector}

    def trial(
        name: str, b: int, seed: int, monitor: Monitor
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        start = time.process_time()
        model = ESTIMATORS[name](b, random_state=seed, **params).fit(X, y)
        fitted = time.process_time()
        accuracy = float((model.predict(X_new) == y_new).mean())
        predicted = time.process_time()
        return {"accuracy": accuracy, "fit": fitted - start, "predict": predicted - fitted}, {}

    with threadpoolctl.threadpool_limits(1), Sandbox() as sandbox:
        warm_up()
        print("machine  landmarks  accuracy  fit s  predict s  x least  MB beside the data")
        cells = itertools.product(options.landmarks, options.machines, range(options.seeds))
        for b, name, seed in cells:
            least = (2 * n * b * d + n * b * b + 2 * _TEST * b * d) / product_rate(b)
            result = sandbox.run(partial(trial, name, b, seed), Limits())
            if result.outcome != "ok":
                print(name, b, result.outcome, result.reason)
                continue
            found = result.value
            spent = found["fit"] + found["predict"]
            print(
                f"{name:8}{b:10}{found['accuracy']:10.4f}{found['fit']:7.2f}"
                f"{found['predict']:11.2f}{spent / least:9.2f}{result.peak_bytes / 1e6:20.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
