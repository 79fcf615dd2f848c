"""TSVM: CPU seconds against the textbook way, a tuned trial, and AUC of its forms.

`python benchmarks/tsvm.py time` takes 4,000 points of a9a, 1,000 of them labeled, and trains

- the textbook way: `sklearn.svm.SVC`, retrained from scratch on all points after the switch of
  each single pair, as in algorithm 1 of Joachims (1999), with the same kernel, C, C* and stages.
  It is stopped after `--retrainings`, unless `--full` lets it run to its end; its time is then a
  lower bound. `--points` and `--labeled` make the problem small enough for the end to be near;
- ours, in both forms, to its end.

`python benchmarks/tsvm.py tuned kr-vs-kp splice` tunes as a study does (grid of 12 settings, 5
folds of the labeled points) and prints mean AUC on the unlabeled points and CPU seconds a trial.
"""

import argparse
import importlib
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import threadpoolctl
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from harness.datasets import load_catalog, split
from harness.datasets.preparation import load
from harness.kernels.width import median_distance
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.trial.search import grid
from harness.trial.tuning import tune

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
tsvm = importlib.import_module("tsvm")

FORMS = {
    "switching": {},
    "cccp": {"form": "cccp"},
    "cccp, ramp -0.3": {"form": "cccp", "ramp": -0.3},
    "labeled points alone": {"unlabeled_weight": 0.0},
}


def seconds(call: Callable) -> tuple[float, object]:
    """Return the CPU seconds of a call, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def problem(name: str, n_labeled: int | float, seed: int, points: int | None = None):
    """Return X with labeled points first, the truth, and the number of labeled points."""
    X, y = load(load_catalog()[name])
    parts = split(y, "binary", n_labeled, "transductive", seed)
    rows = np.concatenate(
        [parts.labeled, np.random.default_rng(seed).permutation(parts.unlabeled)]
    )
    rows = rows[:points]
    return np.ascontiguousarray(X[rows]), y[rows], len(parts.labeled)


def textbook(X, y, n_labeled: int, C: float, weights: list[float], most: float):
    """Switch one pair at a time and retrain from scratch.

    Returns
    -------
    scores : ndarray of shape (n,)
    retrainings, stages : int
    finished : bool
    """
    gamma = 0.5 / median_distance(X) ** 2
    cache = 4 * len(X) ** 2 / 2**20
    known, unlabeled = np.where(y[:n_labeled] == 1, 1, -1), slice(n_labeled, None)

    def train(rows, signs, costs):
        machine = SVC(C=1.0, gamma=gamma, cache_size=max(1.0, cache))
        return machine.fit(X[rows], signs, sample_weight=costs).decision_function(X)

    scores = train(slice(0, n_labeled), known, np.full(n_labeled, C))
    n_positive = int((known > 0).mean() * (len(X) - n_labeled) + 0.5)
    signs = np.concatenate([known, np.full(len(X) - n_labeled, -1)])
    signs[n_labeled + np.argsort(-scores[unlabeled], kind="stable")[:n_positive]] = 1
    retrainings = 0
    for stage, weight in enumerate(weights, 1):
        costs = np.where(np.arange(len(X)) < n_labeled, C, weight)
        while True:
            if retrainings >= most:
                return scores, retrainings, stage, False
            scores = train(slice(None), signs, costs)
            retrainings += 1
            # the pair with the largest slacks, both above 0 and together above 2
            slack = np.maximum(0, 1 - signs * scores)
            slack[:n_labeled] = 0
            up, down = (np.where(signs == sign, slack, 0).argmax() for sign in (1, -1))
            if not (slack[up] > 0 and slack[down] > 0 and slack[up] + slack[down] > 2):
                break
            signs[[up, down]] = -1, 1
    return scores, retrainings, len(weights), True


def compare_time(options: argparse.Namespace) -> None:
    """Print CPU seconds of ours and of the textbook way on one problem."""
    X, y, n_labeled = problem(options.dataset, options.labeled, 0, options.points)
    masked = np.where(np.arange(len(X)) < n_labeled, y, -1)
    truth = y[n_labeled:]
    size = f"{options.dataset}, {len(X)} points, {n_labeled} labeled"
    print(f"{size}, C = {options.C:g}, C* = {options.C / 10:g}")
    print(f"{'':24}{'CPU s':>9}{'AUC':>7}")
    spent = {}
    for name, params in FORMS.items():
        model = tsvm.TransductiveSVM(C=options.C, **params)
        spent[name], _ = seconds(lambda model=model: model.fit(X, masked))
        auc = roc_auc_score(truth, model.decision_scores_[n_labeled:])
        print(f"{name:24}{spent[name]:9.2f}{auc:7.3f}", flush=True)
    weights = np.geomspace(options.C / 270, options.C / 10, 4).tolist()
    most = float("inf") if options.full else options.retrainings
    theirs, (scores, retrainings, stage, finished) = seconds(
        lambda: textbook(X, y, n_labeled, options.C, weights, most)
    )
    auc = roc_auc_score(truth, scores[n_labeled:])
    end = "finished" if finished else f"stopped at C* {stage} of {len(weights)}"
    print(f"{'textbook':24}{theirs:9.2f}{auc:7.3f}  {retrainings} retrainings, {end}")
    bound = "" if finished else "at least "
    print(f"ratio to switching: {bound}{theirs / spent['switching']:.0f}")


def tuned(options: argparse.Namespace) -> None:
    """Print AUC and CPU seconds of tuned trials."""
    metric = primary_metric("binary", (), BUILT_IN)
    methods = {method.name: method for method in tsvm.harness_methods()}
    for name, (method_name, form) in itertools.product(
        options.sets, itertools.product(options.methods, options.forms)
    ):
        method = methods[method_name]
        found, spent = [], []
        for seed in range(options.seeds):
            X, y, n_labeled = problem(name, options.labeled, seed)
            masked = np.where(np.arange(len(X)) < n_labeled, y, -1)
            rng = np.random.default_rng(seed)

            def make(method=method, form=form, **setting):
                return tsvm.TransductiveSVM(**{**method.params, **FORMS[form], **setting})

            def trial(X=X, masked=masked, rng=rng, make=make, method=method):
                best, _ = tune(
                    make,
                    method.space,
                    X,
                    masked,
                    search=grid,
                    trials=12,
                    task="binary",
                    n_classes=2,
                    uses_unlabeled=True,
                    metric=metric,
                    folds=5,
                    rng=rng,
                    head_params=method.head_params,
                )
                return make(**best).fit(X, masked)

            cpu, model = seconds(trial)
            spent.append(cpu)
            found.append(roc_auc_score(y[n_labeled:], model.decision_scores_[n_labeled:]))
        mean = statistics.mean(found)
        error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else np.nan
        print(
            f"{name:12}{method_name:13}{form:22}AUC {mean:.3f} +- {error:.3f}"
            f"{statistics.mean(spent):8.1f} CPU s",
            flush=True,
        )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    timing = commands.add_parser("time")
    timing.set_defaults(run=compare_time)
    timing.add_argument("--dataset", default="a9a")
    timing.add_argument("--points", type=int, default=4000)
    timing.add_argument("--labeled", type=int, default=1000)
    timing.add_argument("--C", type=float, default=1.0)
    timing.add_argument("--retrainings", type=int, default=10)
    timing.add_argument("--full", action="store_true", help="to the end of the textbook way")
    quality = commands.add_parser("tuned")
    quality.set_defaults(run=tuned)
    quality.add_argument("sets", nargs="+")
    quality.add_argument("--labeled", type=float, default=0.1)
    quality.add_argument("--methods", nargs="+", default=["tsvm", "linear-tsvm"])
    quality.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    quality.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        options.run(options)


if __name__ == "__main__":
    main()
