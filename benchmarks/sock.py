"""SoCK's seconds beside the limit that its operations set, and its AUC, on real data.

`python benchmarks/sock.py a9a:1000,3000 w8a:1000,3000 --budgets 200MB 400MB` takes data sets with
their numbers of labeled points; all other points are unlabeled and scored. At each budget the rank
is the plan's, and with `--paper` that of the paper's storage formula. The limit is the operations
of all matrix products at the rate of float32 products, plus sines, cosines and eigensystems at
their own rates, all measured in the same process on the shapes of the last step.
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

from harness.datasets import load_catalog, split
from harness.datasets.preparation import load
from harness.kernels import eigensystem
from harness.planning.size import plan
from harness.plugin.shape import Shape
from harness.units import parse_bytes

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
sock = importlib.import_module("sock")
steps_per_product = importlib.import_module("sock.proximal_low_rank").steps_per_product
METHOD = sock.harness_methods()[0]


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Return CPU seconds of one call, the mean of several."""
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats


class Timed(sock.StochasticClusterKernelSVM):
    """The estimator, which remembers the rank after each step."""

    def _steps(self, X):
        self.ranks = [0]
        for _ in super()._steps(X):
            self.ranks.append(len(self._kernel.eigenvalues))
            yield


def limit(model: Timed, n: int, d: int) -> dict[str, float]:
    """Return the least seconds of a fit's parts at the rates of this process."""
    a, r = model.n_components, model.ranks[-1]
    rng = np.random.default_rng(0)
    A = rng.standard_normal((1024, r + a), dtype=np.float32)
    W = rng.standard_normal((r + a, r), dtype=np.float32)
    out = np.empty((1024, r), np.float32)
    np.matmul(A, W, out=out)
    rate = 2 * A.shape[0] * W.size / seconds(lambda: np.matmul(A, W, out=out), 50)
    phases = 3 * rng.standard_normal((1024, a), dtype=np.float32)
    waves = seconds(lambda: (np.sin(phases), np.cos(phases)), 50) / 2 / phases.size
    G = A.T.astype(float) @ A

    # Each step computes the features that wait, and its own one's products with all columns (half
    # of those with itself); the last of several computes all features again, and B.
    before, after = np.array(model.ranks[:-1]), np.array(model.ranks[1:])
    steps = np.arange(len(after))
    shared = steps_per_product(model.rank, a)
    waiting = 1 + steps % shared
    stored = before[steps - steps % shared]
    columns = d * a * waiting + 2 * (stored + a * waiting) * a - a * a
    ends = (waiting == shared) | (steps == steps[-1])
    columns += ends * (d * a * waiting + 2 * (stored + a * waiting) * after)
    degree_features = 1000 if model.degrees == "features" else 0
    operations = n * (int(columns.sum()) + 2 * d * degree_features)
    if model.degrees == "exact":
        operations += n * n * d
    return {
        "products": operations / rate,
        "waves": n * (a * np.sum(waiting * (1 + ends)) + 2 * degree_features) * waves,
        "eigh": seconds(lambda: eigensystem(G.copy()), 3) * np.sum(((before + a) / len(G)) ** 3),
    }


def report(name: str, counts: list[int], options: argparse.Namespace) -> None:
    """Print one data set's lines: one a budget and setting."""
    X, y = load(load_catalog()[name])
    n, d = X.shape
    print(f"\n{name}: {n} points, {d} features; {options.seeds} seeds")
    head = "".join(f"{f'AUC {count}':>10}" for count in counts)
    print(
        f"{'budget':>8}{'rank':>6} {'transfer':22}{'C':>6}{head}{'fit s':>8}{'limit':>7}", end=""
    )
    print("   of it products, waves, eigh; the SVM")
    for budget in options.budgets:
        shape = Shape(counts[0], n - counts[0], d, 2)
        storage = {"storage": "paper"} if options.paper else {}
        planned = plan(METHOD, shape, budget, storage)
        if not planned.feasible:
            print(f"{budget / 1e6:6g}MB {planned.reason}")
            continue
        rank = planned.size
        fixed = {
            "threshold": options.threshold,
            "degrees": options.degrees,
            "n_iter": options.steps,
        }
        found = {}
        for seed in range(options.seeds):
            model = Timed(rank, random_state=seed, **fixed)
            fitting = seconds(lambda model=model: model.fit_features(X, np.arange(n)))
            least = limit(model, n, d)
            for count in counts:
                halves = split(y, "binary", count, "transductive", seed)
                known = np.full(n, -1)
                known[halves.labeled] = y[halves.labeled]
                for transfer, C in options.settings:
                    model.set_params(transfer=transfer, C=C)
                    training = seconds(
                        lambda model=model, known=known: model.fit_labels(known).decision_scores_
                    )
                    auc = roc_auc_score(
                        y[halves.unlabeled], model.decision_scores_[halves.unlabeled]
                    )
                    found.setdefault((transfer, C), {}).setdefault(count, []).append(auc)
        parts = " ".join(f"{part:.2f}" for part in least.values())
        for (transfer, C), scores in found.items():
            means = "".join(f"{statistics.mean(scores[count]):10.3f}" for count in counts)
            print(f"{budget / 1e6:6g}MB{rank:6} {transfer:22}{C:6g}{means}", end="")
            print(
                f"{fitting:8.2f}{sum(least.values()):7.2f}   {parts}; {training:.2f}", flush=True
            )


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME:LABELED[,LABELED...]")
    parser.add_argument("--budgets", type=parse_bytes, nargs="+", default=[200_000_000])
    parser.add_argument("--paper", action="store_true", help="ranks of the paper's formula")
    parser.add_argument("--threshold", type=float, default=1e-5)
    parser.add_argument("--degrees", choices=["features", "exact"], default="features")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--settings",
        nargs="+",
        default=["regularized-laplacian:1", "linear:1", "poly-step:1"],
        metavar="TRANSFER:C",
    )
    options = parser.parse_args()
    pairs = (item.partition(":") for item in options.settings)
    options.settings = [(transfer, float(C)) for transfer, _, C in pairs]
    with threadpoolctl.threadpool_limits(1):
        for item in options.sets:
            name, _, counts = item.partition(":")
            report(name, [int(count) for count in counts.split(",")], options)


if __name__ == "__main__":
    main()
