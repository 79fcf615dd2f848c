"""FALKON beside a direct solve, and preconditioned beside exact kernel ridge regression.

`python benchmarks/kernel_solvers.py --dataset magic --landmarks 2000` prints the accuracy on test
points, iterations, CPU seconds of the fit, and the peak of loading, fitting and predicting as the
sandbox measures it. `nystrom-krr` and `falkon` have the same landmarks, `krr` and `pcg-krr` all of
`--points`. Penalty and width are the same for all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.project import PLUGINS
from harness.sandbox import Limits, Sandbox
from harness.trial.warm_up import warm_up

sys.path.insert(0, str(PLUGINS))
from falkon import Falkon
from kernel_ridge import CenteredKernelRidge, NystromKernelRidge
from pcg_krr import PreconditionedKernelRidge

BLOCK = 1000


def trial(
    make: Callable[[], Any], folder: Path, y: np.ndarray, y_test: np.ndarray, meter: object
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Load, fit and predict; return accuracy, CPU seconds and iterations."""
    X, model = np.load(folder / "X.npy"), make()
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    X_test, right = np.load(folder / "X_test.npy", mmap_mode="r"), 0
    for first in range(0, len(y_test), BLOCK):
        block = slice(first, first + BLOCK)
        right += int(np.sum(model.predict(np.array(X_test[block])) == y_test[block]))
    iterations = int(getattr(model, "n_iter_", 0))
    told = {"accuracy": right / len(y_test), "seconds": seconds, "iterations": iterations}
    return told, {}


def main() -> None:
    """Print a line for each solver."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", default="magic", help="of classes")
    parser.add_argument("--points", type=int, default=10**9, help="training points at most")
    parser.add_argument("--landmarks", type=int, default=2000)
    parser.add_argument("--rank", type=int, default=200, help="of pcg-krr's preconditioner")
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--sigma", type=float, default=1.0, help="in medians")
    parser.add_argument("--solvers", nargs="+", default=["falkon", "nystrom-krr"])
    options = parser.parse_args()
    threadpoolctl.threadpool_limits(1)
    warm_up()
    X, y = load(load_catalog()[options.dataset])
    y, order = np.asarray(y), np.random.default_rng(0).permutation(len(X))
    n_test = min(10_000, len(X) // 3)
    test, train = order[:n_test], order[n_test:][: options.points]
    given = {"alpha": options.alpha, "sigma": options.sigma, "n_classes": len(np.unique(y))}
    drawn = {**given, "n_landmarks": options.landmarks, "random_state": 0}
    solvers = {
        "falkon": partial(Falkon, **drawn),
        "nystrom-krr": partial(NystromKernelRidge, **drawn),
        "pcg-krr": partial(PreconditionedKernelRidge, **{**drawn, "n_landmarks": options.rank}),
        "krr": partial(CenteredKernelRidge, **given),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", X[train])
        np.save(folder / "X_test.npy", X[test])
        del X
        print(f"{options.dataset}: {len(train)} points, {options.landmarks} landmarks")
        print("solver       accuracy  iterations  CPU s  peak MB")
        for solver in options.solvers:
            run = partial(trial, solvers[solver], folder, y[train], y[test])
            result = Sandbox().run(run, Limits(seconds=3600))
            if result.outcome != "ok":
                print(f"{solver:12} {result.outcome}: {result.reason}")
                continue
            told, peak = result.value, (result.peak_bytes or 0) / 1e6
            line = f"{solver:12} {told['accuracy']:8.4f}  {told['iterations']:10}"
            print(f"{line}  {told['seconds']:5.1f}  {peak:7.1f}", flush=True)


if __name__ == "__main__":
    main()
