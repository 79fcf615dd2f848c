"""A cell of the budget tables beside the operations it cannot do without: seconds, peak, accuracy.

`python benchmarks/budget.py mnist 1280 --kernel rbf` trains on the first 60,000 points for all ten
classes and predicts the other 10,000. The least operations are k(X, B), one triangle of its Gram
matrix and k(B, X_new), at the rate of float32 products measured in the same process. "x done"
counts the products that were made (not those of SSOKMF): a machine whose features do not fit makes
them again for every pass over the points. The peak is what a trial's child adds to the data, as
the kernel counts it.
"""

import argparse
import functools
import importlib
import itertools
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl
import yaml

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.kernels import gram, landmark_features
from harness.sandbox import Limits, Monitor, Sandbox
from harness.trial.warm_up import warm_up

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
from budget_machines import feature_cache, hinge_solver, newton_matrix

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


class Operations:
    """Counts multiplications and additions of the products that a fit and a prediction make."""

    def __init__(self) -> None:
        self.done = 0
        features, cache = landmark_features.LandmarkFeatures, feature_cache.FeatureCache
        self._count(features, "kernel_rows", lambda f, X, *_, **__: 2 * X.size * f.n_components)
        self._count(features, "transform", lambda f, X, *_, **__: len(X) * f.n_components**2)
        self._count(features, "scores", lambda f, X, a, rows=None, *_: 2 * _rows(X, rows) * a.size)
        self._count(cache, "products", lambda c, w: 2 * len(c) * w.size)
        self._count(cache, "sums", lambda c, v: 2 * np.count_nonzero(v) * c._buffer.shape[1])
        self._count(gram.GramSum, "add", lambda _, Z, *__, **___: Z.size * Z.shape[1])
        self._count(newton_matrix, "ssyrk", lambda _, Zt, **__: Zt.size * len(Zt))
        self._count(hinge_solver, "_newton_direction", _of_direction)

    def _count(self, owner: object, name: str, operations: Callable) -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        def counted(*args: object, **kwargs: object) -> object:
            self.done += operations(*args, **kwargs)
            return function(*args, **kwargs)

        setattr(owner, name, counted)


def _rows(X: np.ndarray, rows: np.ndarray | None) -> int:
    return len(X) if rows is None else len(rows)


def _of_direction(
    _: object, active: np.ndarray, __: object, ___: object, gradient: np.ndarray, *____: object
) -> int:
    """Count what is not counted elsewhere: the factor, and the smaller of both matrices."""
    m, r = len(active), len(gradient)
    return m * m * r + m**3 // 3 if 2 * m <= r else r**3 // 3


def main() -> None:
    """Print a line for each machine and number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("landmarks", type=int, nargs="+")
    parser.add_argument("--machines", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--kernel", default="rbf")
    parser.add_argument("--selector", default="uniform")
    parser.add_argument("--points", type=int, default=60_000, help="that are trained on")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    X, y = load(load_catalog()[options.dataset])
    n, d = options.points, X.shape[1]
    trained = np.random.default_rng(0).permutation(len(X) - _TEST)[:n]
    X, y, X_new, y_new = X[trained], y[trained], X[-_TEST:], y[-_TEST:]
    given = (item.partition("=") for item in options.set)
    params = {name: yaml.safe_load(value) for name, _, value in given}
    params |= {"kernel": options.kernel, "selector": options.selector}

    def trial(
        name: str, b: int, seed: int, monitor: Monitor
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        operations = Operations()
        start = time.process_time()
        model = ESTIMATORS[name](b, random_state=seed, **params).fit(X, y)
        fitted = time.process_time()
        accuracy = float((model.predict(X_new) == y_new).mean())
        predicted = time.process_time()
        spent = {"fit": fitted - start, "predict": predicted - fitted}
        return {"accuracy": accuracy, "operations": operations.done, **spent}, {}

    with threadpoolctl.threadpool_limits(1), Sandbox() as sandbox:
        warm_up()
        print(
            "machine  landmarks  accuracy  fit s  predict s  x least  x done  MB beside the data"
        )
        cells = itertools.product(options.landmarks, options.machines, range(options.seeds))
        for b, name, seed in cells:
            rate = product_rate(b)
            least = (2 * n * b * d + n * b * b + 2 * _TEST * b * d) / rate
            result = sandbox.run(partial(trial, name, b, seed), Limits())
            if result.outcome != "ok":
                print(name, b, result.outcome, result.reason)
                continue
            found = result.value
            spent = found["fit"] + found["predict"]
            done = "-" if name == "ssokmf" else f"{spent * rate / found['operations']:.2f}"
            print(
                f"{name:8}{b:10}{found['accuracy']:10.4f}{found['fit']:7.2f}"
                f"{found['predict']:11.2f}{spent / least:9.2f}"
                f"{done:>8}{result.peak_bytes / 1e6:16.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
